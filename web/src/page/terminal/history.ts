import { nameHere } from '../engine/name-here';
import { siteStorage } from '../engine/storage';

/** What the terminal remembers. */
const KEY = nameHere('kubetab.terminal.history');
const MOST = 1000;

/** The lines that were entered, kept over reloads and shared by the tabs of the site. */
export function pastLines(): string[] {
  const lines = siteStorage.value<unknown>(KEY);
  return Array.isArray(lines) ? lines.filter((line) => typeof line === 'string') : [];
}

export function keepLine(line: string): void {
  const lines = pastLines();
  if (lines.at(-1) === line) return;
  lines.push(line);
  siteStorage.keep(KEY, lines.slice(-MOST));
}
