/** The lines that were entered, kept over reloads and shared by the tabs of the site. */
const KEY = 'kubetab.terminal.history';
const MOST = 1000;

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
