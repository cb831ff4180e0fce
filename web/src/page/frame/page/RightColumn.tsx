import { Tabs } from '../../parts/Tabs';
import { words } from '../../words';
import { lazily } from '../Lazy';
import { arrange, type Layout, layout } from '../layout';
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

/** What stands above the terminal beside a lesson. */
const STAGES: readonly Layout['stage'][] = ['picture', 'files'];

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
          {isLesson && (
            <Tabs
              name="stage"
              label={words.stage.label}
              tabs={STAGES.map((id) => ({ id, label: words.stage[id] }))}
              chosen={stage}
              onChoose={(id) => arrange({ stage: id as Layout['stage'] })}
            />
          )}
          <div
            class="pane stage-panel"
            {...(isLesson && {
              id: 'stage-panel',
              role: 'tabpanel',
              'aria-labelledby': `stage-${stage}`,
            })}
          >
            {isLesson && stage === 'picture' ? <Picture /> : <EditorPane />}
          </div>
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
