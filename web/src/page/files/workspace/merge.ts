import { diff } from '@codemirror/merge';
import { ChangeSet, Text } from '@codemirror/state';

/**
 * What two have made of one text, with the changes of both: an operational transformation of whole lines, which loses
 * nothing that either has written. Where both have written at one place, or have changed one line, mine comes first.
 *
 * @param base what both began with
 */
export function merged(base: string, mine: string, theirs: string): string {
  // With a newline behind its last line, which may have none, all lines of a text are alike.
  const from = `${base}\n`;
  const ours = changes(from, `${mine}\n`);
  const both = ours.compose(changes(from, `${theirs}\n`).map(ours));
  return both
    .apply(Text.of(from.split('\n')))
    .toString()
    .replace(/\n$/, '');
}

/** How many lines can be told from each other by one character: those that follow are halves of others. */
const NAMES = 0xd800;

/** What makes the one text of the other: lines that go and come, or characters where there are too many lines. */
function changes(from: string, to: string): ChangeSet {
  const before = linesOf(from);
  const after = linesOf(to);
  const lines = new Set([...before, ...after]);
  if (lines.size > NAMES) return changeSet(from, to, diff(from, to));
  const names = new Map([...lines].map((line, at) => [line, String.fromCharCode(at)]));
  const named = (list: readonly string[]) => list.map((line) => names.get(line)).join('');
  const old = startsOf(before);
  const young = startsOf(after);
  return changeSet(
    from,
    to,
    diff(named(before), named(after)).map(({ fromA, toA, fromB, toB }) => ({
      fromA: old[fromA] ?? 0,
      toA: old[toA] ?? 0,
      fromB: young[fromB] ?? 0,
      toB: young[toB] ?? 0,
    })),
  );
}

const linesOf = (text: string) => text.split(/(?<=\n)/);

/** Where each line begins, and where the last one ends. */
function startsOf(lines: readonly string[]): number[] {
  let at = 0;
  return [
    0,
    ...lines.map((line) => {
      at += line.length;
      return at;
    }),
  ];
}

/** From here to there in the one text, and in the other. */
interface Change {
  readonly fromA: number;
  readonly toA: number;
  readonly fromB: number;
  readonly toB: number;
}

function changeSet(from: string, to: string, list: readonly Change[]): ChangeSet {
  return ChangeSet.of(
    list.map(({ fromA, toA, fromB, toB }) => ({
      from: fromA,
      to: toA,
      insert: to.slice(fromB, toB),
    })),
    from.length,
    '\n', // what else ends a line for an editor is a character like others
  );
}
