import { useState } from 'preact/hooks';
import { typeIntoTerminal } from './shell';
import { words } from './words';

const KEYS: readonly (readonly [string, string])[] = [
  ['Tab', '\t'],
  ['Esc', '\x1b'],
  ['↑', '\x1b[A'],
  ['↓', '\x1b[B'],
  ['←', '\x1b[D'],
  ['→', '\x1b[C'],
  ['|', '|'],
  ['-', '-'],
  ['/', '/'],
];

/** With Ctrl, what these letters stand for. */
const CONTROLLED: readonly (readonly [string, string])[] = [
  ['C', '\x03'],
  ['D', '\x04'],
  ['L', '\x0c'],
  ['R', '\x12'],
  ['U', '\x15'],
  ['W', '\x17'],
];

/** The keys that a phone's keyboard has not. */
export function KeyRow() {
  const [control, setControl] = useState(false);
  const press = (keys: string) => {
    setControl(false);
    typeIntoTerminal(keys);
  };
  return (
    <div class="key-row" translate={false} role="toolbar" aria-label={words.keys}>
      <button
        type="button"
        aria-pressed={control}
        // The keyboard stays open: focus does not move.
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => setControl(!control)}
      >
        Ctrl
      </button>
      {(control ? CONTROLLED : KEYS).map(([label, keys]) => (
        <button
          key={label}
          type="button"
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => press(keys)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}
