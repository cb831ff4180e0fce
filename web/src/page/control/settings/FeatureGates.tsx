import { useSignal } from '@preact/signals';
import type { Gate } from '../../../answers/choices';
import type { Offer } from '../../../answers/wasm';
import { words } from '../words';
import { change, draft } from './engine-settings';
import { gateOtherwise } from './settings-text';

/** All gates of the version, the changed ones first; `AllAlpha` and `AllBeta` move those that nobody has set. */
export function FeatureGates({ from }: { from: Offer }) {
  const text = words.settings;
  const search = useSignal('');
  const set = draft.value.featureGates ?? {};
  const { featureGates } = from.choices;
  const wanted = search.value.trim().toLowerCase();
  const shown = featureGates.filter(
    ({ name, stage }) => name in set || `${name} ${stage || 'ga'}`.toLowerCase().includes(wanted),
  );
  shown.sort((a, b) => Number(b.name in set) - Number(a.name in set));
  const foreign = Object.keys(set).filter(
    (name) => !featureGates.some((gate) => gate.name === name),
  );
  const choose = (name: string, on: boolean | null) => {
    const { [name]: _, ...rest } = set;
    change(from, { featureGates: on === null ? rest : { ...rest, [name]: on } });
  };
  return (
    <details class="setting-list">
      <summary>
        {text.gates} <span class="faint">{text.changed(Object.keys(set).length)}</span>
      </summary>
      <p class="setting-search">
        <input
          class="field"
          type="search"
          placeholder={text.gateSearch(featureGates.length)}
          aria-label={text.gateSearch(featureGates.length)}
          value={search.value}
          onInput={(event) => {
            search.value = event.currentTarget.value;
          }}
        />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <ul class="switches scrolls" tabIndex={0} aria-label={text.gates}>
        {foreign.map((name) => (
          <li key={name} class="is-changed">
            <code>{name}</code>
            <span class="tone-bad">{text.gateForeign(from.choices.version)}</span>
            <button type="button" class="button small" onClick={() => choose(name, null)}>
              {text.remove}
            </button>
          </li>
        ))}
        {shown.map((gate) => (
          <GateRow
            key={gate.name}
            gate={gate}
            on={set[gate.name] ?? gateOtherwise(gate, set)}
            isSet={gate.name in set}
            onChoose={choose}
          />
        ))}
        {shown.length + foreign.length === 0 && <li class="faint">{text.noGate}</li>}
      </ul>
    </details>
  );
}

function GateRow(props: {
  readonly gate: Gate;
  readonly on: boolean;
  readonly isSet: boolean;
  readonly onChoose: (name: string, on: boolean) => void;
}) {
  const { gate, on, isSet, onChoose } = props;
  const text = words.settings;
  return (
    <li class={isSet ? 'is-changed' : ''}>
      <label class="toggle">
        <input
          type="checkbox"
          checked={on}
          disabled={gate.locked}
          onChange={(event) => onChoose(gate.name, event.currentTarget.checked)}
        />
        <code>{gate.name}</code>
      </label>
      <span class="faint">
        {text.stages[gate.stage] ?? gate.stage}
        {gate.locked ? `, ${text.locked(gate.default)}` : `, ${text.byDefault(gate.default)}`}
        {gate.needs && on !== gate.default && `, ${text.needs(gate.needs.join(', '))}`}
      </span>
    </li>
  );
}
