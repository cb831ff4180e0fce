import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ready } from '../../engine/cluster';
import { type Suggestion, suggest } from '../completion';
import { draft, edit } from '../draft';
import { words } from '../words';

/**
 * The path, with suggestions from the server. A combobox after the ARIA authoring practices: the arrows choose, Tab or
 * Enter takes the choice, Escape closes the list, and without a choice Enter sends.
 */
export function PathInput({ onEnter }: { onEnter: () => void }) {
  const { path, method } = draft.value;
  const list = useSignal<readonly Suggestion[]>([]);
  const chosen = useSignal(-1);
  const input = useRef<HTMLInputElement>(null);
  const options = useRef<HTMLDivElement>(null);
  const asked = useRef(0);
  const open = list.value.length > 0;

  useEffect(() => {
    options.current?.children[chosen.value]?.scrollIntoView({ block: 'nearest' });
  }, [chosen.value]);

  function close(): void {
    asked.current++;
    list.value = [];
    chosen.value = -1;
  }

  async function refresh(typed: string): Promise<void> {
    const mine = ++asked.current;
    if (!ready.value || !typed.startsWith('/')) {
      close();
      return;
    }
    const found = await suggest(method, typed);
    // A later key press has asked again, or the list was closed.
    if (mine !== asked.current) return;
    list.value = found;
    chosen.value = -1;
  }

  function take({ value }: Suggestion): void {
    edit({ path: value, example: undefined });
    input.current?.focus();
    if (/[/=]$/.test(value)) void refresh(value);
    else close();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const current = list.value[chosen.value];
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp': {
        event.preventDefault();
        if (!open) {
          void refresh(path);
          return;
        }
        const step = event.key === 'ArrowDown' ? 1 : -1;
        const n = list.value.length;
        chosen.value = chosen.value < 0 && step < 0 ? n - 1 : (chosen.value + step + n) % n;
        return;
      }
      case 'Tab':
        if (!open || event.shiftKey) return;
        event.preventDefault();
        take(current ?? (list.value[0] as Suggestion));
        return;
      case 'Enter':
        if (event.ctrlKey || event.metaKey) {
          close();
          return;
        }
        event.preventDefault();
        if (current) {
          take(current);
        } else {
          close();
          onEnter();
        }
        return;
      case 'Escape':
        if (!open) return;
        event.preventDefault();
        close();
        return;
      default:
    }
  }

  return (
    <div class="path">
      <input
        ref={input}
        class="path-input"
        type="text"
        role="combobox"
        aria-label={words.request.path}
        aria-expanded={open}
        aria-controls="path-suggestions"
        aria-autocomplete="list"
        aria-activedescendant={chosen.value >= 0 ? `path-${chosen.value}` : undefined}
        aria-invalid={!path.startsWith('/')}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={path}
        onInput={(event) => {
          edit({ path: event.currentTarget.value, example: undefined });
          void refresh(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
        onBlur={close}
      />
      <div
        ref={options}
        id="path-suggestions"
        class="suggestions"
        role="listbox"
        aria-label={words.request.suggestions}
        hidden={!open}
      >
        {list.value.map((each, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: focus stays in the input, which handles the keys
          <div
            key={each.value}
            id={`path-${i}`}
            role="option"
            aria-selected={i === chosen.value}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => take(each)}
          >
            <span translate={false}>{each.label}</span>
            <span class="faint">{each.detail}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
