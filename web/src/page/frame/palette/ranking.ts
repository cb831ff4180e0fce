import type { PaletteCommand } from '../palette-commands';

/**
 * Finds the lines that a few letters mean. Every word typed must be found in a line: in its label, its kind, its place
 * or its keywords. How well it is found there decides the order.
 *
 *   the whole label > its beginning > the beginning of a word in it > anywhere in it > its letters, scattered
 *
 * Words are separated by spaces, or by a slash, as in `kube-system/coredns` and `deploy/web`.
 */

const WHOLE = 100;
const BEGINNING = 80;
const WORD = 60;
const WITHIN = 40;
const SCATTERED = 10;
const KIND = 50;
const ABOUT = 20;

/** Part of a label that was typed, from and until. */
export type Span = readonly [from: number, to: number];

export interface Ranked {
  readonly best: readonly PaletteCommand[];
  /** How many fit, shown or not. */
  readonly count: number;
}

export function rank(commands: readonly PaletteCommand[], typed: string, most: number): Ranked {
  const words = wordsOf(typed);
  if (words.length === 0) return { best: commands.slice(0, most), count: commands.length };
  const found: { readonly command: PaletteCommand; readonly score: number }[] = [];
  for (const command of commands) {
    const score = scoreOf(command, words);
    if (score > 0) found.push({ command, score });
  }
  // A collator would take longer than all the rest; shorter names come first already.
  found.sort((a, b) => b.score - a.score || (a.command.label < b.command.label ? -1 : 1));
  return { best: found.slice(0, most).map(({ command }) => command), count: found.length };
}

/** The parts of a label that the words typed are found in, in their order and apart from each other. */
export function spansOf(label: string, typed: string): readonly Span[] {
  const lower = label.toLowerCase();
  const marked = new Set<number>();
  for (const word of wordsOf(typed)) {
    const at = bestPlace(lower, label, word);
    if (at >= 0) for (let i = at; i < at + word.length; i++) marked.add(i);
    else for (const i of scattered(lower, label, word) ?? []) marked.add(i);
  }
  const spans: [number, number][] = [];
  for (const i of [...marked].sort((a, b) => a - b)) {
    const last = spans[spans.length - 1];
    if (last && last[1] === i) last[1] = i + 1;
    else spans.push([i, i + 1]);
  }
  return spans;
}

const wordsOf = (typed: string) =>
  typed
    .toLowerCase()
    .split(/[\s/]+/)
    .filter(Boolean);

interface Prepared {
  readonly label: string;
  /** Each word by itself, with where it comes from forgotten. */
  readonly about: readonly string[];
}

/** Thousands of lines are looked through at every key: each is put into lower case once. */
const prepared = new WeakMap<PaletteCommand, Prepared>();

function prepare(command: PaletteCommand): Prepared {
  let found = prepared.get(command);
  if (!found) {
    const { label, group, place = '', keywords = '' } = command;
    const about = `${group} ${place} ${keywords}`.toLowerCase().split(' ').filter(Boolean);
    found = { label: label.toLowerCase(), about };
    prepared.set(command, found);
  }
  return found;
}

/** 0 when a word is not found at all. */
function scoreOf(command: PaletteCommand, words: readonly string[]): number {
  const { label, about } = prepare(command);
  let sum = 0;
  for (const word of words) {
    const score = Math.max(inLabel(label, command.label, word), inAbout(about, word));
    if (score === 0) return 0;
    sum += score;
  }
  // Of two that fit equally well, the shorter says less that was not asked for.
  return Math.max(sum + (command.weight ?? 0) - Math.min(label.length, 60) / 15, 1);
}

function inLabel(lower: string, label: string, word: string): number {
  if (lower === word) return WHOLE;
  if (lower.startsWith(word)) return BEGINNING;
  const at = bestPlace(lower, label, word);
  if (at >= 0) return beginsWord(label, at) ? WORD : WITHIN;
  return word.length > 1 && scattered(lower, label, word) ? SCATTERED : 0;
}

function inAbout(about: readonly string[], word: string): number {
  let best = 0;
  for (const each of about) {
    if (each === word) return KIND;
    if (each.startsWith(word)) best = ABOUT;
  }
  return best;
}

/** The first place where a word of the label begins like this, or the first of all; -1 for none. */
function bestPlace(lower: string, label: string, word: string): number {
  const first = lower.indexOf(word);
  for (let at = first; at >= 0; at = lower.indexOf(word, at + 1)) {
    if (beginsWord(label, at)) return at;
  }
  return first;
}

/** After anything that is no letter and no digit, and at the capital of another hump. */
function beginsWord(label: string, at: number): boolean {
  if (at === 0) return true;
  const before = label.charAt(at - 1);
  if (!/[\p{L}\p{N}]/u.test(before)) return true;
  return /\p{Lu}/u.test(label.charAt(at)) && /\p{Ll}/u.test(before);
}

/**
 * The letters in their order with others between them, as `cdns` in `coredns`: the first begins a word of the label, and
 * a further one stands beside the one before it or begins a word as well, but for every third.
 */
function scattered(lower: string, label: string, word: string): readonly number[] | null {
  let from = 0;
  for (;;) {
    let at = lower.indexOf(word.charAt(0), from);
    while (at >= 0 && !beginsWord(label, at)) at = lower.indexOf(word.charAt(0), at + 1);
    if (at < 0) return null;
    const places = [at];
    let gaps = 0;
    for (let i = 1; i < word.length; i++) {
      const next = lower.indexOf(word.charAt(i), (places[i - 1] as number) + 1);
      if (next < 0) return null;
      if (next > (places[i - 1] as number) + 1 && !beginsWord(label, next)) gaps++;
      places.push(next);
    }
    if (gaps <= word.length / 3) return places;
    from = at + 1;
  }
}
