import { signal } from '@preact/signals';
import type { OutputLine } from '../../script/messages';
import { spoken } from '../frame/spoken';
import { startScript } from './start';
import { words } from './words';

/** Of one script, the last ones. */
const MOST_LINES = 1000;

export interface ScriptRun {
  readonly path: string;
  readonly phase: 'waiting' | 'running' | 'ended' | 'failed' | 'stopped';
  /** The last that was printed, each with a number. */
  readonly lines: readonly (OutputLine & { readonly number: number })[];
  /** How many lines before them, or between them, are not shown. */
  readonly left: number;
}

/** The last run of each file, until it is closed. */
export const runs = signal<ReadonlyMap<string, ScriptRun>>(new Map());
const stops = new Map<string, () => void>();

export function isAlive(run: ScriptRun | undefined): boolean {
  return run?.phase === 'waiting' || run?.phase === 'running';
}

/** Runs a file; one that runs is stopped first. */
export function runFile(path: string, text: string): void {
  stops.get(path)?.();
  const first: ScriptRun = { path, phase: 'waiting', lines: [], left: 0 };
  const now = () => runs.value.get(path) ?? first;
  let last = 0;
  const show = (change: Partial<ScriptRun>) => {
    runs.value = new Map(runs.value).set(path, { ...now(), ...change });
    if (change.phase) spoken.value = `${path}: ${words.phases[change.phase]}`;
  };
  show(first);
  const stop = startScript(path, text, {
    onBegin: () => show({ phase: 'running' }),
    onOutput(lines, left) {
      const all = [...now().lines, ...lines.map((line) => ({ ...line, number: ++last }))];
      const over = Math.max(all.length - MOST_LINES, 0);
      show({ lines: all.slice(over), left: now().left + left + over });
    },
    onEnd(failed) {
      stops.delete(path);
      show({ phase: failed ? 'failed' : 'ended' });
    },
  });
  stops.set(path, () => {
    stops.delete(path);
    stop();
    show({ phase: 'stopped' });
  });
}

export function stopFile(path: string): void {
  stops.get(path)?.();
}

/** Forgets what a file has printed. A script that runs goes on. */
export function clearRun(path: string): void {
  const run = runs.value.get(path);
  if (!run) return;
  const rest = new Map(runs.value);
  if (isAlive(run)) rest.set(path, { ...run, lines: [], left: 0 });
  else rest.delete(path);
  runs.value = rest;
}
