import { useEffect, useLayoutEffect } from 'preact/hooks';
import { loadClockControls } from '../../control/ClockMenu';
import { engineState, untilReady } from '../../engine/cluster';
import { progressWords } from '../../engine/EngineStatus';
import { EngineTrouble } from '../../engine/EngineTrouble';
import { inLesson, isOffered } from '../../lessons/course/home';
import { Offer } from '../../lessons/pane/Offer';
import { RequestsDrawer } from '../../requests/RequestsDrawer';
import { receiving, sharing } from '../../share/open';
import { words } from '../../words';
import { Boundary } from '../Boundary';
import { lazily } from '../Lazy';
import { arrange, layout, maximised } from '../layout';
import { onShortcut, paletteOpen } from '../palette/palette';
import { LIST, route } from '../route';
import { Splitter } from '../Splitter';
import { spoken } from '../spoken';
import { Header } from './Header';
import { NoticeLine } from './NoticeLine';
import { onStrayKey } from './on-stray-key';
import { PhoneTabs, Rail } from './Rail';
import { RightColumn } from './RightColumn';

const ClusterView = lazily(() =>
  import('../../cluster/pane/ClusterView').then(({ ClusterView }) => ClusterView),
);
const loadFiles = () => import('../../files/pane/FilesView').then(({ FilesView }) => FilesView);
const FilesView = lazily(loadFiles);
const ConsoleView = lazily(() =>
  import('../../console/pane/ConsoleView').then(({ ConsoleView }) => ConsoleView),
);
const loadSettings = () =>
  import('../../control/settings/SettingsView').then(({ SettingsView }) => SettingsView);
const SettingsView = lazily(loadSettings);
const loadPalette = () => import('../palette/Palette').then(({ Palette }) => Palette);
const Palette = lazily(loadPalette);
const LessonsView = lazily(() =>
  import('../../lessons/pane/LessonsView').then(({ LessonsView }) => LessonsView),
);
const LessonStrip = lazily(() => import('../../lessons/pane/Strip').then(({ Strip }) => Strip));
const ShareDialog = lazily(() =>
  import('../../share/ShareDialog').then(({ ShareDialog }) => ShareDialog),
);
const ReceiveDialog = lazily(() =>
  import('../../share/ReceiveDialog').then(({ ReceiveDialog }) => ReceiveDialog),
);
/**
 * What is small is loaded so many ms after the first paint, when the engine does not need the line: then Ctrl K and a name
 * can be typed without a pause.
 */
const SMALL_AFTER = 2000;

async function loadSmall(signal: AbortSignal): Promise<void> {
  await untilReady(signal);
  await Promise.all(
    [loadPalette, loadFiles, loadSettings, loadClockControls].map((load) => load()),
  );
}

export function Page() {
  // From the first paint on, so that no key is lost that is pressed at what can be seen.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      onShortcut(event);
      onStrayKey(event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  useEffect(() => {
    const removed = new AbortController();
    const timer = setTimeout(() => {
      // What fails now, also because there is no engine, is tried again and reported when it is wanted.
      void loadSmall(removed.signal).catch(() => undefined);
    }, SMALL_AFTER);
    return () => {
      clearTimeout(timer);
      removed.abort();
    };
  }, []);
  const { view, path } = route.value;
  const { title } = words;
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <>
      <button type="button" class="skip" onClick={() => focusOn('view')}>
        {words.skip}
      </button>
      <Boundary>
        <Header />
      </Boundary>
      <main
        class="frame"
        data-view={view === 'files' && path === LIST ? 'file-list' : view}
        data-maximised={maximised.value ?? undefined}
      >
        <Boundary>
          <Rail />
        </Boundary>
        <div class="work" id="view" tabIndex={-1}>
          <div>
            <Boundary>
              <EngineTrouble />
              {inLesson && view !== 'lessons' && <LessonStrip />}
            </Boundary>
          </div>
          <Boundary>
            <Panes />
          </Boundary>
        </div>
        <Boundary>
          <RequestsDrawer />
        </Boundary>
        <NoticeLine />
      </main>
      <Boundary>
        <PhoneTabs />
      </Boundary>
      <Boundary>
        <Announcer />
      </Boundary>
      {paletteOpen.value && <Palette />}
      {sharing.value && <ShareDialog />}
      {receiving.value !== null && <ReceiveDialog key={receiving.value} />}
    </>
  );
}

/** The left pane and the right column, or one view that takes the whole width. */
function Panes() {
  const { view, path } = route.value;
  if (view === 'console') return <ConsoleView />;
  if (view === 'settings') return <SettingsView />;
  if (view === 'lessons' && path === '') return <LessonsView />;
  const isLesson = view === 'lessons';
  const share = isLesson ? layout.value.guide : layout.value.left;
  // A text that is read wants lines of some length.
  const least = isLesson ? 360 : 0;
  return (
    <div
      class="columns"
      style={{
        gridTemplateColumns: `minmax(${least}px, ${share * 100}fr) 0 ${(1 - share) * 100}fr`,
      }}
    >
      <div class="column left">
        {view === 'cluster' && path === '' && isOffered.value && <Offer />}
        {isLesson ? <LessonsView /> : view === 'files' ? <FilesView /> : <ClusterView />}
      </div>
      <Splitter
        label={words.pane.resize(words.views[isLesson || view === 'files' ? view : 'cluster'])}
        orientation="vertical"
        now={share * 100}
        onMove={(at) => {
          const to = Math.min(Math.max(at, 0.2), 0.85);
          arrange(isLesson ? { guide: to } : { left: to });
        }}
      />
      <RightColumn />
    </div>
  );
}

function focusOn(id: string): void {
  document.getElementById(id)?.focus();
}

/** For screen readers: stages of the start and the outcome of what was done, not every byte. */
function Announcer() {
  const state = engineState.value;
  const engine = !state || state.phase === 'downloading' ? '' : progressWords(state);
  return (
    <>
      <p class="unseen" role="status">
        {engine}
      </p>
      <p class="unseen" role="status">
        {spoken.value}
      </p>
    </>
  );
}
