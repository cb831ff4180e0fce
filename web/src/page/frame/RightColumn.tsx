import { words } from '../words';
import { lazily } from './Lazy';
import { arrange, layout } from './layout';
import { PaneBar } from './PaneBar';
import { Splitter } from './Splitter';

const EditorPane = lazily(() => import('../files/EditorPane').then(({ EditorPane }) => EditorPane));
const Terminal = lazily(() => import('../terminal/Terminal').then(({ Terminal }) => Terminal));

/** The editor above the terminal. */
export function RightColumn() {
  const share = layout.value.editor;
  return (
    <div class="column right">
      <div
        class="right-panes"
        style={{ gridTemplateRows: `minmax(0, ${share}fr) 0 minmax(0, ${1 - share}fr)` }}
      >
        <section class="pane editor-place" aria-label={words.views.files}>
          <EditorPane />
        </section>
        <Splitter
          label={words.pane.resize(words.views.terminal)}
          orientation="horizontal"
          now={share * 100}
          onMove={(at) => arrange({ editor: Math.min(Math.max(at, 0.1), 0.9) })}
        />
        <div class="pane terminal-place">
          <PaneBar pane="terminal">
            <h2 class="pane-title">{words.views.terminal}</h2>
          </PaneBar>
          <Terminal />
        </div>
      </div>
    </div>
  );
}
