import { nameHere } from '../engine/name-here';

/** What the terminal remembers. */
const KEY = nameHere('kubetab.terminal.history');
const MOST = 1000;

/** The lines that were entered, kept over reloads and shared by the tabs of the site. */
export function pastLines(): string[] {
  try {
    const lines: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(lines) ? lines.filter((line) => typeof line === 'string') : [];
  } catch {
    return []; // closed to the page, or not ours
  }
}

export function keepLine(line: string): void {
  const lines = pastLines();
  if (lines.at(-1) === line) return;
  lines.push(line);
  try {
    localStorage.setItem(KEY, JSON.stringify(lines.slice(-MOST)));
  } catch {
    // Not remembered, then.
  }
}

/** What belongs to this tab and survives its reload; null where there is nothing, or storage is closed to the page. */
export function recall(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keep(key: string, value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // Not remembered, then.
  }
}
