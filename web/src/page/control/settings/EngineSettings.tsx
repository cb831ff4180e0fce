import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Offer } from '../../../answers/wasm';
import { engineState, forgetOtherBuilds } from '../../engine/cluster';
import { words as engineWords } from '../../engine/words';
import { ENGINE_PATH } from '../clusters/opened';
import { words } from '../words';
import { change, draft, followSettings, offer } from './engine-settings';
import { FeatureGates } from './FeatureGates';
import { GroupVersions } from './GroupVersions';
import { useMeant } from './meant';

/** What kube-apiserver and the rest of the cluster are started with. Nothing changes before a restart. */
export function EngineSettings() {
  const text = words.settings;
  const trouble = useSignal('');
  useEffect(
    () =>
      followSettings((what) => {
        trouble.value = what;
      }),
    [],
  );
  const now = offer.value;
  return (
    <section class="part wide" aria-label={text.title} ref={useMeant(ENGINE_PATH, 'start')}>
      <h2>{text.title}</h2>
      <p class="about">{text.about}</p>
      <RunNotes />
      {trouble.value && (
        <p class="tone-bad" role="alert" translate={false}>
          {trouble.value}
        </p>
      )}
      {now && <Fields from={now} />}
    </section>
  );
}

function Fields({ from }: { from: Offer }) {
  const text = words.settings;
  const now = draft.value;
  const { versions, version } = from.choices;
  return (
    <>
      <div class="setting">
        <label for="emulated-version">{text.version}</label>
        <select
          id="emulated-version"
          class="field"
          value={version}
          onChange={(event) => change(from, { emulatedVersion: event.currentTarget.value })}
        >
          {versions.map((each, i) => (
            <option key={each} value={each}>
              {i === 0 ? text.own(each) : each}
            </option>
          ))}
        </select>
        <span class="faint">{text.versionAbout}</span>
      </div>
      <div class="setting">
        <label for="nodes">{text.nodes}</label>
        <input
          id="nodes"
          class="field"
          type="number"
          min={0}
          max={from.mostNodes}
          value={now.nodes ?? from.nodes}
          // With each key: what is only in the field is lost when it is drawn again.
          onInput={(event) => {
            const { valueAsNumber, min, max } = event.currentTarget;
            if (!Number.isFinite(valueAsNumber)) return;
            const count = Math.round(valueAsNumber);
            change(from, { nodes: Math.min(Math.max(count, Number(min)), Number(max)) });
          }}
        />
        <span class="faint">{text.nodesAbout}</span>
      </div>
      <div class="setting">
        <label class="toggle">
          <input
            type="checkbox"
            checked={!now.noScheduler}
            onChange={(event) => change(from, { noScheduler: !event.currentTarget.checked })}
          />
          {text.scheduler}
        </label>
        <span class="faint">{text.schedulerAbout}</span>
      </div>
      <FeatureGates from={from} />
      <GroupVersions from={from} />
      <Controllers from={from} />
    </>
  );
}

function Controllers({ from }: { from: Offer }) {
  const text = words.settings;
  const set = draft.value.controllers ?? [];
  const isOn = (name: string, byDefault: boolean) =>
    set.includes(`-${name}`) ? false : set.includes(name) || byDefault;
  const others = (name: string) => set.filter((each) => each !== name && each !== `-${name}`);
  const count = set.filter((name) => name !== '*').length;
  return (
    <details class="setting-list">
      <summary>
        {text.controllers} <span class="faint">{text.changed(count)}</span>
      </summary>
      <p class="faint">{text.controllersAbout}</p>
      <ul class="switches">
        {from.choices.controllers.map(({ name, default: byDefault, note }) => {
          const on = isOn(name, byDefault);
          return (
            <li key={name} class={on === byDefault ? '' : 'is-changed'}>
              <label class="toggle">
                <input
                  type="checkbox"
                  checked={on}
                  onChange={({ currentTarget: { checked } }) => {
                    const mine = checked === byDefault ? [] : [checked ? name : `-${name}`];
                    change(from, { controllers: [...others(name), ...mine] });
                  }}
                />
                <code>{name}</code>
              </label>
              {note && <span class="faint">{engineWords.said(note)}</span>}
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** What there is to say of the start of the engine that runs. */
function RunNotes() {
  const text = words.settings;
  const state = engineState.value;
  if (state?.phase !== 'ready') return <p class="faint">{text.waiting}</p>;
  const { run } = state;
  const unserved = offer.value?.unserved ?? [];
  return (
    <>
      {run.refused && (
        <div class="setting-note is-bad" role="alert">
          <b>{text.refused}</b>
          <pre translate={false}>{engineWords.said(run.refused.why)}</pre>
          <p>{text.refusedNext}</p>
        </div>
      )}
      {run.notKept && (
        <div class="setting-note is-warn" role="status">
          <b>{text.notKept}</b>
          <pre translate={false}>{run.notKept}</pre>
          <p>{run.otherBuilds > 0 ? text.notTakenNext : text.notKeptNext}</p>
        </div>
      )}
      {run.leftOut && (
        <div class={`setting-note ${run.leftOut.length > 0 ? 'is-warn' : ''}`} role="status">
          {text.takenOver}
          {run.leftOut.length > 0 && (
            <>
              <b>{text.leftOut}</b>
              <ul>
                {run.leftOut.map((line) => (
                  <li key={line} translate={false}>
                    {line}
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      )}
      {run.otherBuilds > 0 && <OtherBuilds count={run.otherBuilds} />}
      {unserved.length > 0 && (
        <div class="setting-note is-warn" role="status">
          <b>{text.unserved}</b>
          <ul>
            {unserved.map(({ apiVersion, kind, count }) => (
              <li key={`${apiVersion} ${kind}`}>
                {count} <span translate={false}>{kind}</span>{' '}
                <span class="faint" translate={false}>
                  {apiVersion}
                </span>
              </li>
            ))}
          </ul>
          <p>{text.unservedNext}</p>
        </div>
      )}
    </>
  );
}

/** What other builds of the page have kept in this browser, and the way to be rid of it. */
function OtherBuilds({ count }: { count: number }) {
  const text = words.settings;
  return (
    <div class="setting-note is-warn" role="status">
      <p>{text.otherBuilds(count)}</p>
      <button
        type="button"
        class="button small"
        onClick={() => {
          if (confirm(text.forgetAsk)) forgetOtherBuilds();
        }}
      >
        {text.forget}
      </button>
    </div>
  );
}
