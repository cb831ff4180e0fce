import { engineState } from '../engine/cluster';
import { EngineStatus, progressWords } from '../engine/EngineStatus';
import { EngineTrouble } from '../engine/EngineTrouble';
import { scope } from '../engine/here';
import { Boundary } from '../frame/Boundary';
import { lazily } from '../frame/Lazy';
import { Logo } from '../frame/page/Logo';
import { NoticeLine } from '../frame/page/NoticeLine';
import { words } from '../words';

const PANES = {
  lesson: lazily(() =>
    import('../lessons/pane/LessonsView').then(({ LessonsView }) => LessonsView),
  ),
  terminal: lazily(() => import('../terminal/Terminal').then(({ Terminal }) => Terminal)),
  picture: lazily(() => import('../picture/PictureView').then(({ PictureView }) => PictureView)),
  cluster: lazily(() =>
    import('../cluster/pane/ClusterView').then(({ ClusterView }) => ClusterView),
  ),
  files: lazily(() => import('../files/pane/EditorPane').then(({ EditorPane }) => EditorPane)),
};

export type EmbedPane = keyof typeof PANES;

export function isEmbedPane(name: string): name is EmbedPane {
  return Object.hasOwn(PANES, name);
}

interface PanesProps {
  readonly panes: readonly EmbedPane[];
  /** Whether to say how the engine is: that of another frame has its own place for it. */
  readonly hasBar: boolean;
}

/** Some panes of the workbench, side by side or, where it is narrow, one above the other. */
export function Panes({ panes, hasBar }: PanesProps) {
  const state = engineState.value;
  const isBusy = state?.phase !== 'ready' && state?.phase !== 'dead';
  return (
    <>
      {hasBar && (
        <header class="embed-bar">
          <a class="embed-brand" href={scope.href} target="_blank" rel="noopener" translate={false}>
            <Logo />
            <span>kubetab</span>
          </a>
          <p class="embed-state">
            {isBusy && (state ? progressWords(state) : words.engine.connecting)}
          </p>
          <EngineStatus />
        </header>
      )}
      <main class="embed-panes">
        <Boundary>
          <EngineTrouble />
        </Boundary>
        {panes.map((name) => {
          const Pane = PANES[name];
          return (
            <section key={name} class="pane embed-pane" data-pane={name}>
              <Pane />
            </section>
          );
        })}
      </main>
      <NoticeLine />
    </>
  );
}
