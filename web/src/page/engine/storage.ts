/**
 * Small things that a browser keeps for the page, by key. Storage may be closed to the page (private windows, frames in pages
 * of other sites) or full. Then nothing is remembered, and nothing else breaks.
 */
class WebStorage {
  readonly #name: 'localStorage' | 'sessionStorage';

  constructor(name: 'localStorage' | 'sessionStorage') {
    this.#name = name;
  }

  /** @returns null where nothing is kept under the key, or storage is closed */
  text(key: string): string | null {
    try {
      return window[this.#name].getItem(key);
    } catch {
      return null;
    }
  }

  /**
   * The value that `keep` has stored under a key. Another version of the page may have written it, or anybody.
   *
   * @returns null where nothing is kept under the key, it is no JSON, or storage is closed
   */
  value<T>(key: string): T | null {
    try {
      return JSON.parse(this.text(key) ?? 'null') as T;
    } catch {
      return null;
    }
  }

  /**
   * @param text null takes away what is kept under the key
   * @returns whether the browser has kept it
   */
  keepText(key: string, text: string | null): boolean {
    try {
      if (text === null) window[this.#name].removeItem(key);
      else window[this.#name].setItem(key, text);
      return true;
    } catch {
      return false;
    }
  }

  /** As JSON. @returns whether the browser has kept it */
  keep(key: string, value: unknown): boolean {
    return this.keepText(key, JSON.stringify(value));
  }

  /** @returns null where storage is closed */
  keys(): string[] | null {
    try {
      return Object.keys(window[this.#name]);
    } catch {
      return null;
    }
  }
}

/** Shared by all tabs of the site, for the next visit too. */
export const siteStorage = new WebStorage('localStorage');
/** Of this tab alone; survives its reload. */
export const tabStorage = new WebStorage('sessionStorage');
