import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ready } from '../../engine/cluster';
import { type Suggestion, suggest } from '../completion';
import { draft, edit } from '../draft';
import { words } from '../words';

interface SuggestionsProps {
  readonly list: readonly Suggestion[];
  /** The place of the one that is chosen, or -1. */
  readonly chosen: number;
  readonly onTake: (suggestion: Suggestion) => void;
}

function Suggestions({ list, chosen, onTake }: SuggestionsProps) {
  const options = useRef<HTMLDivElement>(null);
  useEffect(() => {
    options.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <div
      ref={options}
      id="path-suggestions"
      class="suggestions"
      role="listbox"
      aria-label={words.request.suggestions}
      hidden={list.length === 0}
    >
      {list.map((each, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: focus stays in the input, which handles the keys
        <div
          key={each.value}
          id={`path-${i}`}
          role="option"
          aria-selected={i === chosen}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onTake(each)}
        >
          <span translate={false}>{each.label}</span>
          <span class="faint">{each.detail}</span>
        </div>
      ))}
    </div>
  );
}

/** What the server suggests for what was typed, as it was last asked. */
function useSuggestions(method: string) {
  const list = useSignal<readonly Suggestion[]>([]);
  const chosen = useSignal(-1);
  const asked = useRef(0);

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

  return { list, chosen, refresh, close };
}

/**
 * The path, with suggestions from the server. A combobox after the ARIA authoring practices: the arrows choose, Tab or
 * Enter takes the choice, Escape closes the list, and without a choice Enter sends.
 */
export function PathInput({ onEnter }: { onEnter: () => void }) {
  const { path, method } = draft.value;
  const { list, chosen, refresh, close } = useSuggestions(method);
  const input = useRef<HTMLInputElement>(null);
  const open = list.value.length > 0;

  function take({ value }: Suggestion): void {
    edit({ path: value, example: undefined });
    input.current?.focus();
    if (/[/=]$/.test(value)) void refresh(value);
    else close();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const current = list.value[chosen.value];
    const isCommand = event.ctrlKey || event.metaKey;
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp':
        event.preventDefault();
        if (open) chosen.value = next(chosen.value, event.key === 'ArrowUp', list.value.length);
        else void refresh(path);
        return;
      case 'Tab':
        if (!open || event.shiftKey) return;
        event.preventDefault();
        take(current ?? (list.value[0] as Suggestion));
        return;
      case 'Enter':
        if (current && !isCommand) {
          event.preventDefault();
          take(current);
          return;
        }
        close();
        if (isCommand) return; // the console's
        event.preventDefault();
        onEnter();
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
      <Suggestions list={list.value} chosen={chosen.value} onTake={take} />
    </div>
  );
}

/** The place after `at` of `n`, or before it; the first and the last are neighbours. */
function next(at: number, isBackwards: boolean, n: number): number {
  if (isBackwards) return at <= 0 ? n - 1 : at - 1;
  return (at + 1) % n;
}
