import type { EngineSettings, Run } from '../../protocol';
import { BUNDLE } from './database';
import type { Earlier, StoredJournal } from './stored-journal';

type Role = Pick<
  StoredJournal,
  | 'read'
  | 'keepFrom'
  | 'keepSettings'
  | 'keep'
  | 'clear'
  | 'stop'
  | 'takenOver'
  | 'refused'
  | 'ignoreOthers'
  | 'forgetOthers'
>;

/**
 * Takes the place of `StoredJournal` for an engine that keeps nothing beyond its worker: what it has done is in this worker's
 * memory, for a restart with the same objects, and what it begins with was brought by the page. Nothing is stored, and
 * nothing that is stored is looked at.
 */
export class MemoryJournal implements Role {
  readonly #entries = new Map<string, Uint8Array>();
  #settings: EngineSettings;
  #from: Run['from'] | null = null;
  #stopped = false;

  /** @param bundle that the cluster begins with, or null for an empty one */
  constructor(bundle: Uint8Array<ArrayBuffer> | null, settings: EngineSettings) {
    this.#settings = settings;
    if (!bundle) return;
    this.#entries.set(BUNDLE, bundle);
    // The engine puts the bundle in place of the snapshot's objects: wasm/journal_js.go.
    this.#from = 'snapshot';
  }

  async read(): Promise<Earlier> {
    const entries = [...this.#entries].sort(([a], [b]) => (a < b ? -1 : 1));
    const from = entries.length > 0 ? (this.#from ?? 'snapshot') : null;
    return { settings: this.#settings, from, entries, isOfOther: false, others: 0 };
  }

  keepFrom(from: Run['from']): void {
    this.#from = from;
  }

  keepSettings(settings: EngineSettings): void {
    this.#settings = settings;
  }

  keep(name: string, record: Uint8Array, superseded: string): void {
    if (this.#stopped) return;
    if (record.byteLength > 0) this.#entries.set(name, record);
    else this.#entries.delete(name);
    for (const old of superseded.split(' ')) this.#entries.delete(old);
  }

  /** Nothing is kept for another visit that an answer could wait for. */
  caughtUp(): null {
    return null;
  }

  async clear(): Promise<void> {
    this.#entries.clear();
    this.#from = null;
    this.#stopped = false;
  }

  stop(): void {
    this.#stopped = true;
  }

  /* There are no other builds. */

  takenOver(): boolean {
    return false;
  }

  refused(): void {}

  ignoreOthers(): void {}

  async forgetOthers(): Promise<number> {
    return 0;
  }
}
