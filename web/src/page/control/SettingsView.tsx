import '../style/settings.css';
import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { now } from '../cluster/clock';
import type { KubeObject } from '../cluster/object';
import { useWatch } from '../cluster/use-watch';
import { metadata } from '../cluster/watch';
import { ready } from '../engine/cluster';
import { EngineDetails } from '../engine/EngineStatus';
import { nextTheme, theme } from '../frame/theme';
import { LanguageMenu } from '../language/LanguageMenu';
import { words as frameWords } from '../words';
import {
  type ClockState,
  clockMissing,
  clockNow,
  engineClock,
  readClock,
  setClock,
  stepClock,
} from './clock';
import { EngineSettings } from './EngineSettings';
import { ADMIN, EDITOR, type Identity, identity, serviceAccount, VIEWER } from './identity';
import { RestartPart } from './RestartPart';
import { foreignContext, giveTerminal } from './terminal-identity';
import { words } from './words';

/** Who one acts as, how time goes, what the engine is. */
export function SettingsView() {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="settings" tabIndex={0} aria-label={words.title}>
      <div class="settings-columns">
        <IdentityPart />
        <ClockPart />
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
          </p>
        </section>
      </div>
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

const SPEEDS = [1, 10, 60, 600] as const;
const STEPS = [10, 60, 3600, 86400] as const;

function ClockPart() {
  const text = words.clock;
  const refusal = useSignal('');
  const state = engineClock.value;
  const attempt = (doing: Promise<void>) => {
    refusal.value = '';
    doing.catch((error: unknown) => {
      refusal.value = error instanceof Error ? error.message : String(error);
    });
  };
  useEffect(() => {
    if (ready.value) attempt(readClock());
  }, [ready.value]);
  return (
    <section class="part">
      <h2>{text.title}</h2>
      <p class="about">{text.about}</p>
      {state ? (
        <>
          <Time state={state} />
          <p class="clock-buttons">
            <button
              type="button"
              class="button small"
              onClick={() => attempt(setClock({ paused: !state.paused }))}
            >
              {state.paused ? text.resume : text.pause}
            </button>
            <select
              class="field"
              aria-label={text.speed}
              value={state.speed}
              onChange={(event) => attempt(setClock({ speed: Number(event.currentTarget.value) }))}
            >
              {!SPEEDS.some((speed) => speed === state.speed) && (
                <option value={state.speed}>{state.speed}</option>
              )}
              {SPEEDS.map((speed) => (
                <option key={speed} value={speed}>
                  {text.speeds[speed]}
                </option>
              ))}
            </select>
          </p>
          <p class="clock-buttons">
            <span class="faint">{text.step}</span>
            {STEPS.map((seconds) => (
              <button
                key={seconds}
                type="button"
                class="button small"
                onClick={() => attempt(stepClock(seconds))}
              >
                {text.steps[seconds]}
              </button>
            ))}
          </p>
        </>
      ) : (
        ready.value && clockMissing.value && <p class="faint">{text.missing}</p>
      )}
      {ready.value && refusal.value && (
        <p class="tone-bad" role="alert" translate={false}>
          {refusal.value}
        </p>
      )}
    </section>
  );
}

function Time({ state }: { state: ClockState & { readonly at: number } }) {
  const text = useComputed(() => {
    const shown = engineClock.value ?? state;
    return clockNow(shown, Math.max(now.value, shown.at))
      .toISOString()
      .replace('T', ' ')
      .slice(0, 19);
  });
  return (
    <p class="clock-time">
      <span class="faint">{words.clock.now}</span> <b>{text}</b>
      {state.paused && <span class="tone-warn"> {words.clock.paused}</span>}
    </p>
  );
}
