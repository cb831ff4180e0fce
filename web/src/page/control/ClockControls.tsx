import '../style/settings.css';
import { useComputed, useSignal } from '@preact/signals';
import type { ClockState } from '../../answers/core';
import { now } from '../cluster/clock';
import { ready } from '../engine/cluster';
import { clockMissing, clockNow, engineClock, SPEEDS, setClock, stepClock } from './clock';
import { words } from './words';

const STEPS = [10, 60, 3600, 86400] as const;

/** The time of the cluster: paused, at another speed, or moved forward. */
export function ClockControls() {
  const text = words.clock;
  const refusal = useSignal('');
  const state = engineClock.value;
  const attempt = (doing: Promise<void>) => {
    refusal.value = '';
    doing.catch((error: unknown) => {
      refusal.value = error instanceof Error ? error.message : String(error);
    });
  };
  return (
    <div class="clock-controls">
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
                <option value={state.speed}>{text.times(state.speed)}</option>
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
        <p class="faint">{ready.value && clockMissing.value ? text.missing : text.waiting}</p>
      )}
      {ready.value && refusal.value && (
        <p class="tone-bad" role="alert" translate={false}>
          {refusal.value}
        </p>
      )}
    </div>
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
