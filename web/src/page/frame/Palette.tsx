import '../style/palette.css';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ADMIN, EDITOR, identity, VIEWER } from '../control/identity';
import { restartEngine } from '../engine/cluster';
import { changeLanguage } from '../language/LanguageMenu';
import { LANGUAGES, type Language, language } from '../language/language';
import { words } from '../words';
import { arrange, layout } from './layout';
import { paletteOpen } from './palette';
import { commandSources, type PaletteCommand } from './palette-commands';
import { go, route, VIEWS } from './route';
import { nextTheme } from './theme';

/** One field that leads everywhere: views, kinds, objects, files, and what can be done. */
export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const typed = useSignal('');
  const chosen = useSignal(0);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  useEffect(() => {
    list.current?.children[chosen.value]?.scrollIntoView({ block: 'nearest' });
  }, [chosen.value]);
  const found = matching(typed.value);
  const run = (command: PaletteCommand | undefined) => {
    if (!command) return;
    close();
    command.run();
  };
  const close = () => {
    paletteOpen.value = false;
  };
  const palette = words.palette;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a dialog closes on Escape by itself
    <dialog
      ref={dialog}
      class="palette"
      aria-label={palette.open}
      onClose={close}
      onClick={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      <input
        class="palette-input"
        role="combobox"
        aria-label={palette.open}
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${chosen.value}` : undefined}
        placeholder={palette.placeholder}
        spellcheck={false}
        autocomplete="off"
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          chosen.value = 0;
        }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
          if (step !== 0) {
            event.preventDefault();
            chosen.value = (chosen.value + step + found.length) % Math.max(found.length, 1);
          } else if (event.key === 'Enter') {
            event.preventDefault();
            run(found[chosen.value]);
          }
        }}
      />
      <div
        ref={list}
        id="palette-list"
        class="palette-list"
        role="listbox"
        aria-label={palette.open}
      >
        {found.map((command, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: focus stays in the input, which handles the keys
          <div
            key={`${command.group} ${command.label}`}
            id={`palette-${i}`}
            role="option"
            aria-selected={i === chosen.value}
            onClick={() => run(command)}
          >
            <span class="palette-label">{command.label}</span>
            <span class="faint">{command.group}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="empty">{palette.none}</p>}
    </dialog>
  );
}

/** On a phone it is a screen of its own. */
function focusTerminal(): void {
  if (route.value.view === 'console' || route.value.view === 'settings') go('cluster');
  if (matchMedia('(max-width: 720px)').matches) go('terminal');
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('.terminal-place textarea')?.focus(),
  );
}

const MOST = 60;

function matching(typed: string): PaletteCommand[] {
  const parts = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...own(), ...commandSources.flatMap((source) => source())];
  const scored = all.flatMap((command) => {
    const text = `${command.label} ${command.group} ${command.keywords ?? ''}`.toLowerCase();
    if (!parts.every((part) => text.includes(part))) return [];
    // What begins with the words typed comes first; then the shorter.
    const label = command.label.toLowerCase();
    const rank = parts[0] && label.startsWith(parts[0]) ? 0 : 1;
    return [{ command, rank: parts.length === 0 ? 0 : rank * 1000 + label.length }];
  });
  scored.sort((a, b) => a.rank - b.rank);
  return scored.slice(0, MOST).map(({ command }) => command);
}

function own(): PaletteCommand[] {
  const { palette, identity: names } = words;
  const as = (who: typeof ADMIN, label: string): PaletteCommand => ({
    group: palette.identity,
    label: palette.actAs(label),
    run: () => {
      identity.value = who;
    },
  });
  return [
    ...VIEWS.map((view) => ({
      group: palette.view,
      label: words.views[view],
      run: () => {
        if (view === 'requests') arrange({ drawerOpen: !layout.value.drawerOpen });
        else if (view === 'terminal') focusTerminal();
        else go(view);
      },
    })),
    as(ADMIN, names.admin),
    as(EDITOR, names.editor),
    as(VIEWER, names.viewer),
    { group: palette.page, label: palette.theme, run: nextTheme },
    ...(Object.entries(LANGUAGES) as [Language, string][])
      .filter(([id]) => id !== language.value)
      .map(([id, name]) => ({
        group: palette.language,
        label: name,
        keywords: `${id} language chinese zhongwen 语言 中文 英文`,
        run: () => void changeLanguage(id),
      })),
    {
      group: palette.engine,
      label: words.details.restart,
      run: () => {
        if (confirm(words.details.restartAsk)) restartEngine();
      },
    },
  ];
}
