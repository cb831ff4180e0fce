/**
 * What belongs to this tab and survives its reload. Storage may be closed to the page (private windows, full disk):
 * then nothing is remembered, and nothing else breaks.
 */
export function recall<T>(key: string): T | null {
  try {
    const json = sessionStorage.getItem(key);
    return json === null ? null : (JSON.parse(json) as T);
  } catch {
    return null;
  }
}

export function remember(key: string, value: unknown): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // See above.
  }
}
