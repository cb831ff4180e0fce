import { ClockMenu } from '../../control/ClockMenu';
import { ClusterMenu } from '../../control/clusters/ClusterMenu';
import { IdentityMenu } from '../../control/IdentityMenu';
import { engineState } from '../../engine/cluster';
import { EngineStatus, progressWords } from '../../engine/EngineStatus';
import { isEmbedded } from '../../engine/here';
import { LanguageMenu } from '../../language/LanguageMenu';
import { ShareButton } from '../../share/ShareButton';
import { words } from '../../words';
import { Icon } from '../icons';
import { openPalette } from '../palette/palette';
import { nextTheme, theme } from '../theme';
import { Logo } from './Logo';

/** What one is looking at, and what holds everywhere: time, identity, language, theme, and how the engine is. */
export function Header() {
  return (
    <header class="top">
      <h1 class="brand" title={words.tagline}>
        <Logo />
        <span class="brand-name" translate={false}>
          kubetab
        </span>
      </h1>
      <Where />
      <button type="button" class="top-button search-button" onClick={openPalette}>
        <Icon name="search" size={15} />
        <span class="search-word">{words.palette.open}</span>
        <kbd>{words.palette.key}</kbd>
      </button>
      <ClockMenu />
      <IdentityMenu />
      <LanguageMenu />
      <ThemeButton />
      {!isEmbedded && <ShareButton />}
      <EngineStatus />
    </header>
  );
}

/** The cluster. Until its engine is ready, what is being done about that: there the words have the room they need. */
function Where() {
  const state = engineState.value;
  if (state?.phase !== 'ready' && state?.phase !== 'dead') {
    return <p class="where is-busy">{state ? progressWords(state) : words.engine.connecting}</p>;
  }
  const emulated = state.phase === 'ready' && state.run.settings.emulatedVersion;
  return (
    <div class="where">
      {!isEmbedded && <ClusterMenu />}
      {emulated && <span class="faint">{words.cluster.emulating(`v${emulated}`)}</span>}
    </div>
  );
}

function ThemeButton() {
  const label = words.theme[theme.value];
  return (
    <button
      type="button"
      class="icon-button theme-button"
      onClick={nextTheme}
      aria-label={label}
      title={label}
    >
      <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
        <circle cx="10" cy="10" r="6.2" fill="none" stroke="currentColor" stroke-width="1.6" />
        {theme.value === 'system' && <path d="M10 3.8a6.2 6.2 0 0 1 0 12.4z" fill="currentColor" />}
        {theme.value === 'dark' && <circle cx="10" cy="10" r="6.2" fill="currentColor" />}
        {theme.value === 'light' && <circle cx="10" cy="10" r="2.4" fill="currentColor" />}
      </svg>
    </button>
  );
}
