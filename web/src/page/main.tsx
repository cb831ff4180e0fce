import './style/tokens.css';
import './style/frame.css';
import './style/console.css';
import { render } from 'preact';
import { draft } from './console/draft';
import { send } from './console/run';
import { isWatch } from './console/verbs';
import { offerDeveloper } from './developer';
import { loadEditor } from './editor/Code';
import { openCluster } from './engine/cluster';
import { Page } from './frame/Page';

// The download is the long part: it begins before anything is drawn.
openCluster();
offerDeveloper();

const root = document.getElementById('page');
if (root) render(<Page />, root);

// What was on the screen is there again after a reload; a newcomer sees the namespaces. Only what changes nothing and
// comes to an end is sent without being asked for.
if (draft.value.method === 'GET' && !isWatch(draft.value.path.split('?', 2)[1] ?? '')) void send();

void loadEditor();
