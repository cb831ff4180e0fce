import './palette.css';
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { clusterCommands, holdObjects, kindsUnread } from '../../cluster/find';
import { list as listClusters } from '../../control/clusters/clusters';
import { ready } from '../../engine/cluster';
import { fileCommands, openFiles } from '../../files/workspace/open';
import { lessonCommands } from '../../lessons/course/commands';
import { words } from '../../words';
import { useLeaving } from '../Dialog';
import type { PaletteCommand } from '../palette-commands';
import { ownCommands } from './own-commands';
import { closePalette } from './palette';
import { rank, type Span, spansOf } from './ranking';

const MOST = 60;

/** One field that leads everywhere: views, kinds, objects, files, and what can be done. */
export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const typed = useSignal('');
  const chosen = useSignal(0);
  useEffect(() => {
    dialog.current?.showModal();
    openFiles();
    void listClusters().catch(() => undefined); // those that are known are found
    return holdObjects();
  }, []);
  const all = useComputed(() => [
    ...ownCommands(),
    ...lessonCommands(),
    ...fileCommands(),
    ...clusterCommands(),
  ]);
  const found = useComputed(() => rank(all.value, typed.value, MOST));
  const { best, count } = found.value;
  // What is found may become less while it is looked at.
  const at = Math.min(chosen.value, Math.max(best.length - 1, 0));
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const leaving = useLeaving(dialog, () => closePalette('back'));
  const run = (command: PaletteCommand | undefined) => {
    if (!command) return;
    closePalette('view');
    command.run();
  };
  const { palette } = words;
  return (
    <dialog ref={dialog} class="dialog palette" aria-label={palette.open} {...leaving}>
      <input
        class="palette-input"
        role="combobox"
        aria-label={palette.open}
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={best.length > 0 ? `palette-${at}` : undefined}
        placeholder={palette.placeholder}
        spellcheck={false}
        autocomplete="off"
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          chosen.value = 0;
        }}
        onKeyDown={(event) => {
          // Enter that ends the input of a Chinese word is not meant for the list.
          if (event.isComposing) return;
          const to = goal(event.key, at, best.length);
          if (to !== null) {
            event.preventDefault();
            chosen.value = to;
          } else if (event.key === 'Enter') {
            event.preventDefault();
            run(best[at]);
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
        {best.map((command, i) => (
          <Line
            key={command.id}
            id={`palette-${i}`}
            command={command}
            typed={typed.value}
            isChosen={i === at}
            onRun={run}
          />
        ))}
      </div>
      <Foot typed={typed.value} shown={best.length} count={count} />
    </dialog>
  );
}

const PAGE = 8;

/** Where a key leads to; null for keys that are not for the list. */
function goal(key: string, at: number, length: number): number | null {
  const last = Math.max(length - 1, 0);
  switch (key) {
    case 'ArrowDown':
      return at === last ? 0 : at + 1;
    case 'ArrowUp':
      return at === 0 ? last : at - 1;
    case 'PageDown':
      return Math.min(at + PAGE, last);
    case 'PageUp':
      return Math.max(at - PAGE, 0);
    default:
      return null;
  }
}

interface LineProps {
  readonly id: string;
  readonly command: PaletteCommand;
  readonly typed: string;
  readonly isChosen: boolean;
  readonly onRun: (command: PaletteCommand) => void;
}

function Line({ id, command, typed, isChosen, onRun }: LineProps) {
  const { label, group, place, names } = command;
  const spans = spansOf(label, typed);
  // A long name is cut in the middle: the ends of names that one owner gives are what differs.
  const cut = names && label.length > 24 ? label.length - 8 : label.length;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: focus stays in the input, which handles the keys
    <div id={id} role="option" aria-selected={isChosen} onClick={() => onRun(command)}>
      <span class="palette-label" title={label} translate={!names}>
        <span class="palette-start">
          <Marked text={label} spans={spans} from={0} to={cut} />
        </span>
        {cut < label.length && (
          <span>
            <Marked text={label} spans={spans} from={cut} to={label.length} />
          </span>
        )}
      </span>
      {place && (
        <span class="palette-place" translate={false}>
          {place}
        </span>
      )}
      <span class="palette-group" translate={names !== 'label and group'}>
        {group}
      </span>
    </div>
  );
}

interface MarkedProps {
  readonly text: string;
  readonly spans: readonly Span[];
  readonly from: number;
  readonly to: number;
}

/** A part of a text, with what was typed in it marked. */
function Marked({ text, spans, from, to }: MarkedProps) {
  const pieces: preact.ComponentChildren[] = [];
  let at = from;
  for (const [start, end] of spans) {
    const first = Math.max(start, at);
    const last = Math.min(end, to);
    if (last <= first) continue;
    pieces.push(text.slice(at, first), <mark key={first}>{text.slice(first, last)}</mark>);
    at = last;
  }
  pieces.push(text.slice(at, to));
  return <>{pieces}</>;
}

interface FootProps {
  readonly typed: string;
  readonly shown: number;
  readonly count: number;
}

/** Why there is nothing, or not everything. */
function Foot({ typed, shown, count }: FootProps) {
  const { palette } = words;
  const unread = kindsUnread();
  const rest = ready.value ? (unread > 0 ? palette.reading(unread) : '') : palette.waiting;
  const isCut = typed.trim() !== '' && shown < count;
  const sum = count === 0 ? palette.none(typed) : isCut ? palette.first(shown, count) : '';
  return (
    <>
      <p class="palette-foot" hidden={!rest && !sum}>
        {sum && <span>{sum}</span>}
        {rest && <span>{rest}</span>}
      </p>
      <p class="unseen" role="status">
        {typed && (count === 0 ? palette.none(typed) : palette.found(count))}
      </p>
    </>
  );
}
