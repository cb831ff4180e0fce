import type { Offer } from '../../../answers/wasm';
import { words } from '../words';
import { change, draft } from './engine-settings';
import { groupOtherwise } from './settings-text';

/** What --runtime-config takes for many versions at once, in the order in which upstream applies it. */
const TOGETHER = ['api/all', 'api/ga', 'api/beta', 'api/alpha'] as const;

/** Group versions on and off. Those that are off by default come first: they are what one looks for. */
export function GroupVersions({ from }: { from: Offer }) {
  const text = words.settings;
  const set = draft.value.runtimeConfig ?? {};
  const { groupVersions } = from.choices;
  const choose = (name: string, value: string) => {
    const { [name]: _, ...rest } = set;
    change(from, { runtimeConfig: value ? { ...rest, [name]: value } : rest });
  };
  const known = new Set<string>([...TOGETHER, ...groupVersions.map(({ name }) => name)]);
  const others = Object.keys(set).filter((name) => !known.has(name));
  const sorted = [...groupVersions].sort((a, b) => Number(a.default) - Number(b.default));
  return (
    <details class="setting-list">
      <summary>
        {text.groups} <span class="faint">{text.changed(Object.keys(set).length)}</span>
      </summary>
      <p class="faint">{text.groupsAbout}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <ul class="switches scrolls" tabIndex={0} aria-label={text.groups}>
        {TOGETHER.map((name) => (
          <li key={name} class={name in set ? 'is-changed' : ''}>
            <code>{name}</code>
            <select
              class="field"
              aria-label={`${text.groups} ${name}`}
              value={set[name] ?? ''}
              onChange={(event) => choose(name, event.currentTarget.value)}
            >
              <option value="">{text.asDefault}</option>
              <option value="true">{text.allOn}</option>
              <option value="false">{text.allOff}</option>
            </select>
          </li>
        ))}
        {others.map((name) => (
          <li key={name} class="is-changed">
            <code>{`${name}=${set[name]}`}</code>
            <button type="button" class="button small" onClick={() => choose(name, '')}>
              {text.remove}
            </button>
          </li>
        ))}
        {sorted.map((group) => {
          const { name } = group;
          const value = set[name];
          return (
            <li key={name} class={value === undefined ? '' : 'is-changed'}>
              <label class="toggle">
                <input
                  type="checkbox"
                  checked={value === undefined ? groupOtherwise(group, set) : value === 'true'}
                  onChange={(event) => choose(name, String(event.currentTarget.checked))}
                />
                <code>{name}</code>
              </label>
              <span class="faint">{text.byDefault(group.default)}</span>
            </li>
          );
        })}
      </ul>
    </details>
  );
}
