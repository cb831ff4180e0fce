import '../../style/settings.css';
import type { KubeObject } from '../../cluster/object';
import { useWatch } from '../../cluster/use-watch';
import { metadata } from '../../cluster/watch';
import { EngineDetails } from '../../engine/EngineStatus';
import { nextTheme, theme } from '../../frame/theme';
import { LanguageMenu } from '../../language/LanguageMenu';
import { openShare } from '../../share/open';
import { words as frameWords } from '../../words';
import { ClockControls } from '../ClockControls';
import { ClusterList } from '../clusters/ClusterList';
import { CLUSTERS_PATH } from '../clusters/room';
import { ADMIN, EDITOR, type Identity, identity, serviceAccount, VIEWER } from '../identity';
import { foreignContext, giveTerminal } from '../terminal-identity';
import { words } from '../words';
import { EngineSettings } from './EngineSettings';
import { useMeant } from './meant';
import { RestartPart } from './RestartPart';

/** Who one acts as, how time goes, what the engine is. */
export function SettingsView() {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="settings" tabIndex={0} aria-label={words.title}>
      <div class="settings-columns">
        <ClustersPart />
        <IdentityPart />
        <section class="part">
          <h2>{words.clock.title}</h2>
          <p class="about">{words.clock.about}</p>
          <ClockControls />
        </section>
        <EngineSettings />
        <RestartPart />
        <section class="part">
          <h2>{words.engine.title}</h2>
          <p class="about">{words.engine.about}</p>
          <EngineDetails />
        </section>
        <section class="part">
          <h2>{words.look.title}</h2>
          <p class="clock-buttons">
            <LanguageMenu />
            <button type="button" class="button small" onClick={nextTheme}>
              {frameWords.theme[theme.value]}
            </button>
            <button type="button" class="button small" onClick={openShare}>
              {frameWords.share.open}
            </button>
          </p>
        </section>
      </div>
    </section>
  );
}

/** `#settings/clusters` is the way here from elsewhere. */
function ClustersPart() {
  const place = useMeant(CLUSTERS_PATH, 'nearest');
  return (
    <section class="part" ref={place}>
      <h2>{words.clusters.title}</h2>
      <p class="about">{words.clusters.about}</p>
      <ClusterList />
    </section>
  );
}

const META = metadata<KubeObject>();

function become(who: Identity): void {
  identity.value = who;
}

function IdentityPart() {
  const text = words.identity;
  const now = identity.value;
  const { items } = useWatch('/api/v1/serviceaccounts', META);
  const accounts = [...items.keys()].sort();
  const chosen = now.kind === 'service-account' ? now.name.split(':').slice(2).join('/') : '';
  const row = (who: Identity, [name, about]: readonly string[]) => (
    <label class="choice" key={who.name}>
      <input
        type="radio"
        name="identity"
        checked={now.name === who.name}
        onChange={() => become(who)}
      />
      <span>
        <b>{name}</b>
        <span class="faint">{about}</span>
      </span>
    </label>
  );
  return (
    <section class="part">
      <h2>{text.title}</h2>
      <p class="about">{text.about}</p>
      {foreignContext.value && (
        <p class="setting-note" role="status">
          {text.foreign(foreignContext.value)}{' '}
          <button type="button" class="button small" onClick={() => void giveTerminal(now)}>
            {text.same}
          </button>
        </p>
      )}
      {row(ADMIN, text.admin)}
      {row(EDITOR, text.editor)}
      {row(VIEWER, text.viewer)}
      <div class="choice">
        <input
          type="radio"
          name="identity"
          id="as-account"
          aria-label={text.account[0]}
          checked={now.kind === 'service-account'}
          onChange={() => {
            const [namespace = '', name = ''] = (accounts[0] ?? 'default/default').split('/');
            become(serviceAccount(namespace, name));
          }}
        />
        <span>
          <label for="as-account">
            <b>{text.account[0]}</b>
          </label>
          <select
            class="field"
            aria-label={text.choose}
            value={chosen}
            onChange={(event) => {
              const [namespace = '', name = ''] = event.currentTarget.value.split('/');
              if (name) become(serviceAccount(namespace, name));
            }}
          >
            <option value="">...</option>
            {chosen && !accounts.includes(chosen) && (
              <option value={chosen} translate={false}>
                {chosen}
              </option>
            )}
            {accounts.map((each) => (
              <option key={each} value={each} translate={false}>
                {each}
              </option>
            ))}
          </select>
          <span class="faint">{text.account[1]}</span>
        </span>
      </div>
    </section>
  );
}
