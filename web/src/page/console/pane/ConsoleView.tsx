import './console.css';
import { useEffect } from 'preact/hooks';
import { loadEditor } from '../../editor/Code';
import { isWatch } from '../../parts/verbs';
import { draft } from '../draft';
import { isUnderWay, run, send, stop } from '../run';
import { words } from '../words';
import { type Pane, pane, sendNow } from './pane';
import { RequestBar } from './RequestBar';
import { RequestPane } from './RequestPane';
import { ResponsePane } from './ResponsePane';
import { Side } from './Side';

let greeted = false;

/** Any request, by hand. */
export function ConsoleView() {
  useEffect(() => {
    void loadEditor();
    // What was on the screen is there again after a reload; a newcomer sees the namespaces. Only what changes nothing
    // and comes to an end is sent without being asked for.
    const { method, path } = draft.value;
    if (!greeted && method === 'GET' && !isWatch(path.split('?', 2)[1] ?? '')) void send();
    greeted = true;
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <div class="console-view" data-pane={pane.value}>
      <PaneTabs />
      <Side />
      <div class="console">
        <RequestBar />
        <div class="panes">
          <RequestPane />
          <ResponsePane />
        </div>
      </div>
    </div>
  );
}

function onKey(event: KeyboardEvent): void {
  if ((event.target as Element).closest('dialog')) return;
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    sendNow();
  } else if (
    event.key === 'Escape' &&
    !event.defaultPrevented &&
    run.value &&
    isUnderWay(run.value)
  ) {
    stop();
  }
}

function PaneTabs() {
  const tabs: readonly Pane[] = ['side', 'request', 'response'];
  return (
    <nav class="pane-tabs" aria-label={words.tabs.label}>
      {tabs.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={pane.value === name}
          onClick={() => {
            pane.value = name;
          }}
        >
          {words.tabs[name]}
        </button>
      ))}
    </nav>
  );
}
