import { words } from '../../words';
import { lazily } from '../Lazy';
import { arrange, layout } from '../layout';
import { PaneBar } from '../PaneBar';
import { route } from '../route';
import { Splitter } from '../Splitter';

const EditorPane = lazily(() =>
  import('../../files/pane/EditorPane').then(({ EditorPane }) => EditorPane),
);
const Terminal = lazily(() => import('../../terminal/Terminal').then(({ Terminal }) => Terminal));

const Picture = lazily(() =>
  import('../../picture/PictureView').then(({ PictureView }) => PictureView),
);

/** The editor above the terminal; beside a lesson also the picture. */
export function RightColumn() {
  const { editor: share, stage } = layout.value;
  const isLesson = route.value.view === 'lessons';
  return (
    <div class="column right">
      <div
        class="right-panes"
        style={{ gridTemplateRows: `minmax(0, ${share}fr) 0 minmax(0, ${1 - share}fr)` }}
      >
        <section class="pane editor-place" aria-label={words.views.files}>
          {isLesson && <StageTabs />}
          {isLesson && stage === 'picture' ? <Picture /> : <EditorPane />}
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

/** Beside a lesson: what stands above the terminal. */
function StageTabs() {
  const { stage } = layout.value;
  return (
    <div class="stage-tabs tab-row" role="tablist" aria-label={words.stage.label}>
      {STAGES.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={stage === name}
          onClick={() => arrange({ stage: name })}
        >
          {words.stage[name]}
        </button>
      ))}
    </div>
  );
}

const STAGES = ['picture', 'files'] as const;
