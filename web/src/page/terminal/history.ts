import { nameHere } from '../engine/name-here';
import { siteStorage } from '../engine/storage';

/** What the terminal remembers. */
const KEY = nameHere('kubetab.terminal.history');
const MOST = 1000;
/** How many characters all lines may have: a shell is told all of them when it begins, and takes a megabyte. */
const MOST_CHARACTERS = 128 * 1024;
/** The longest line that is remembered, in characters. A document that was pasted may be longer. */
const LONGEST = 16 * 1024;

/** The lines that were entered, kept over reloads and shared by the tabs of the site. */
export function pastLines(): string[] {
  const lines = siteStorage.value<unknown>(KEY);
  return Array.isArray(lines) ? lastOf(lines.filter((line) => typeof line === 'string')) : [];
}

/** The last lines that may be remembered, in their order. Earlier versions of the page have kept more. */
function lastOf(lines: readonly string[]): string[] {
  const short = lines.filter((line) => line.length <= LONGEST).slice(-MOST);
  let room = MOST_CHARACTERS;
  const first = short.findLastIndex((line) => {
    room -= line.length;
    return room < 0;
  });
  return short.slice(first + 1);
}

export function keepLine(line: string): void {
  const lines = pastLines();
  if (lines.at(-1) === line) return;
  siteStorage.keep(KEY, lastOf([...lines, line]));
}
