import { signal } from '@preact/signals';
import type { CheckState, StepState } from '../../../answers/tutorials';
import { nameHere } from '../../engine/name-here';
import { siteStorage } from '../../engine/storage';

/** A step as it stood; what was wrong then is not kept. */
export type Told = Omit<StepState, 'hints'>;

/**
 * How far a learner has come, lesson by lesson, as this browser keeps it: a record for each lesson under a key of its
 * own, so that one that cannot be read costs no other. Anybody can change what a browser keeps, so a record is checked
 * when it is read.
 */
export interface Progress {
  /** What the lesson begins with was made, in the cluster that belongs to it. */
  readonly begun: boolean;
  /** The step that was read last. */
  readonly step: string;
  /** Checks that have become true since the lesson began, or began anew. */
  readonly checks: readonly string[];
  /** The steps as the engine has told them last, for one that comes after it. */
  readonly told: readonly Told[];
  /** Steps whose checks were all true at one time; stays when the lesson begins anew. */
  readonly done: readonly string[];
  /** How many steps the lesson has, and had when it was last opened. */
  readonly steps: number;
  /** What was guessed: the number of an option for each step. */
  readonly guesses: Readonly<Record<string, number>>;
  /** How many lines of a step's solution were shown. */
  readonly shown: Readonly<Record<string, number>>;
  /** When it was last changed, in ms since 1970. */
  readonly at: number;
}

export const NOTHING: Progress = {
  begun: false,
  step: '',
  checks: [],
  told: [],
  done: [],
  steps: 0,
  guesses: {},
  shown: {},
  at: 0,
};

const PREFIX = nameHere('kubetab.lesson.');
/** Longer is none of ours. */
const LARGEST = 60_000;
const MOST = 200;
const ID = /^[a-zA-Z0-9-]{1,63}$/;
const LESSON = /^[a-z0-9-]{1,62}\/[a-z0-9-]{1,62}$/;

/** By lesson. A new map for each change. */
export const progress = signal<ReadonlyMap<string, Progress>>(new Map());
/** Lessons of which something is kept that cannot be read. */
export const unreadable = signal<ReadonlySet<string>>(new Set());
/** The browser keeps nothing for this page. */
export const notKept = signal(false);

/** @returns null for what is no progress */
export function readProgress(text: string): Progress | null {
  if (text.length > LARGEST) return null;
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return null;
  const { begun, step, checks, told, done, steps, guesses, shown, at } = found as Record<
    string,
    unknown
  >;
  if (typeof begun !== 'boolean') return null;
  if (typeof step !== 'string' || (step !== '' && !ID.test(step))) return null;
  if (!isIds(checks) || !isIds(done)) return null;
  if (!isCount(steps) || !isCounts(guesses) || !isCounts(shown)) return null;
  if (typeof at !== 'number' || !Number.isFinite(at)) return null;
  return { begun, step, checks, told: readTold(told), done, steps, guesses, shown, at };
}

/** What is not as the engine tells it, is left out: `checks` and `done` then say what there is. */
function readTold(value: unknown): readonly Told[] {
  const steps = listOf(value).flatMap((step) => {
    const { id, done, checks } = step;
    return isId(id) ? [{ id, done: done === true, checks: listOf(checks).flatMap(readCheck) }] : [];
  });
  return steps;
}

function readCheck(value: Readonly<Record<string, unknown>>): readonly CheckState[] {
  const { id, done, failed, seen, at, request } = value;
  if (!isId(id)) return [];
  return [
    {
      id,
      done: done === true,
      ...(failed === true && { failed }),
      ...(typeof seen === 'string' && { seen }),
      ...(typeof at === 'string' && { at }),
      ...(typeof request === 'object' && { request }),
    },
  ];
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MOST).filter((one) => typeof one === 'object' && one !== null);
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

function isIds(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= MOST && value.every(isId);
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST;
}

function isCounts(value: unknown): value is Readonly<Record<string, number>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const pairs = Object.entries(value);
  return pairs.length <= MOST && pairs.every(([id, n]) => ID.test(id) && isCount(n));
}

/** Reads all that is kept, and again whatever another tab changes. To be called once. */
export function openProgress(): void {
  const keys = siteStorage.keys();
  notKept.value = keys === null;
  for (const key of keys ?? []) {
    if (key.startsWith(PREFIX)) take(key.slice(PREFIX.length), siteStorage.text(key));
  }
  addEventListener('storage', ({ key, newValue }) => {
    if (key?.startsWith(PREFIX)) take(key.slice(PREFIX.length), newValue);
  });
}

function take(id: string, text: string | null): void {
  const known = new Map(progress.value);
  const torn = new Set(unreadable.value);
  const found = text !== null && LESSON.test(id) ? readProgress(text) : null;
  if (found) known.set(id, found);
  else known.delete(id);
  if (text !== null && !found) torn.add(id);
  else torn.delete(id);
  progress.value = known;
  unreadable.value = torn;
}

export function progressOf(id: string): Progress {
  return progress.value.get(id) ?? NOTHING;
}

/** Keeps what has changed. It is known in this tab also where the browser keeps nothing. */
export function note(id: string, change: Partial<Progress>): void {
  const next = { ...progressOf(id), ...change, at: Date.now() };
  progress.value = new Map(progress.value).set(id, next);
  if (unreadable.value.has(id)) {
    unreadable.value = new Set([...unreadable.value].filter((each) => each !== id));
  }
  const text = JSON.stringify(next);
  const isLarge = text.length > LARGEST;
  const kept = isLarge ? JSON.stringify({ ...next, told: [] }) : text;
  notKept.value = !siteStorage.keepText(PREFIX + id, kept);
}

/** Takes what is kept of a lesson away, readable or not. */
export function forget(id: string): void {
  take(id, null);
  siteStorage.keepText(PREFIX + id, null);
}

/** A lesson is done when each of its steps was. */
export function isDone({ done, steps }: Progress): boolean {
  return steps > 0 && done.length >= steps;
}
