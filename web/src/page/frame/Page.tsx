import { useEffect } from 'preact/hooks';
import { RequestBar } from '../console/RequestBar';
import { RequestPane } from '../console/RequestPane';
import { ResponsePane } from '../console/ResponsePane';
import { isUnderWay, run, spoken, stop } from '../console/run';
import { Side } from '../console/Side';
import { engineState } from '../engine/cluster';
import { EngineStatus, progressWords } from '../engine/EngineStatus';
import { EngineTrouble } from '../engine/EngineTrouble';
import { words } from '../words';
import { Logo } from './Logo';
import { NoticeLine } from './NoticeLine';
import { type Pane, pane, sendNow } from './pane';
import { nextTheme, theme } from './theme';

export function Page() {
  useEffect(() => {
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <a class="skip" href="#request">
        {words.skipToRequest}
      </a>
      <a class="skip" href="#response">
        {words.skipToResponse}
      </a>
      <header class="top">
        <h1 class="brand">
          <Logo />
          <span class="brand-name">kubetab</span>
        </h1>
        <p class="tagline">{words.tagline}</p>
        <EngineStatus />
        <ThemeButton />
      </header>
      <NoticeLine />
      <main class="work" data-pane={pane.value}>
        <Side />
        <div class="console">
          <RequestBar />
          <EngineTrouble />
          <div class="panes">
            <RequestPane />
            <ResponsePane />
          </div>
        </div>
      </main>
      <PhoneTabs />
      <Announcer />
    </>
  );
}

function onKey(event: KeyboardEvent): void {
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

function ThemeButton() {
  const label = words.theme[theme.value];
  return (
    <button type="button" class="icon-button" onClick={nextTheme} aria-label={label} title={label}>
      <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
        <circle cx="10" cy="10" r="6.2" fill="none" stroke="currentColor" stroke-width="1.6" />
        {theme.value === 'system' && <path d="M10 3.8a6.2 6.2 0 0 1 0 12.4z" fill="currentColor" />}
        {theme.value === 'dark' && <circle cx="10" cy="10" r="6.2" fill="currentColor" />}
        {theme.value === 'light' && <circle cx="10" cy="10" r="2.4" fill="currentColor" />}
      </svg>
    </button>
  );
}

function PhoneTabs() {
  const tabs: readonly Pane[] = ['side', 'request', 'response'];
  return (
    <nav class="phone-tabs" aria-label="Panes">
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

/** For screen readers: stages of the start and the outcome of requests, not every byte. */
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
