import type { EngineSettings, Run } from '../protocol';

/** What an earlier engine has left. */
export interface Earlier {
  readonly settings: EngineSettings;
  /** What the entries go on from; null when there are none. */
  readonly from: Run['from'] | null;
  readonly entries: readonly (readonly [name: string, record: Uint8Array])[];
  /** Nothing is there but what another build has left in the same folder. */
  readonly isOfOtherBuild: boolean;
}

/** What is kept beside the entries. No entry's name begins like these. */
const SETTINGS = ' settings';
const FROM = ' from';

/**
 * What the cluster of this browser has become, kept from visit to visit in IndexedDB: entries of the engine's journal,
 * under the snapshot they go on from, and the settings that the engine ran with. Another build has another snapshot, and
 * with it a cluster of its own.
 *
 * Entries are written in the order in which Go names them, in transactions of what has come together since the last
 * one began; so what is there is always a state that the cluster had, at most some milliseconds old.
 */
export class Kept {
  readonly #base: string;
  readonly #database: Promise<IDBDatabase>;
  #waiting: Change[] = [];
  #writing = false;
  #written: Promise<void> = Promise.resolve();
  #stopped = false;

  /** @param base names the snapshot */
  constructor(base: string) {
    this.#base = base;
    this.#database = open();
    this.#database.catch((error) => this.#fail(error));
  }

  /** Everything, with what was given to keep before. Without a database there is nothing. */
  async read(): Promise<Earlier> {
    let settings: EngineSettings = {};
    let from: Earlier['from'] = null;
    const entries: [string, Uint8Array][] = [];
    let isOfOtherBuild = false;
    try {
      await this.#written;
      const store = (await this.#database).transaction(STORE).objectStore(STORE);
      const [keys, records] = await Promise.all([
        done(store.getAllKeys(this.#all())),
        done(store.getAll(this.#all())),
      ]);
      keys.forEach((key, i) => {
        const name = (key as [string, string])[1];
        if (name === SETTINGS) settings = unspelled(records[i] as Uint8Array);
        else if (name === FROM) from = unspelled(records[i] as Uint8Array);
        else entries.push([name, records[i] as Uint8Array]);
      });
      // Builds before settings were kept wrote entries alone.
      if (entries.length > 0) from ??= 'snapshot';
      else {
        from = null;
        isOfOtherBuild = await this.#hasOthers();
      }
    } catch (error) {
      this.#fail(error);
    }
    return { settings, from, entries, isOfOtherBuild };
  }

  /** Whether another snapshot of this folder has entries. */
  async #hasOthers(): Promise<boolean> {
    const folder = this.#base.slice(0, this.#base.lastIndexOf('/') + 1);
    const store = (await this.#database).transaction(STORE).objectStore(STORE);
    const range = IDBKeyRange.bound([folder], [`${folder}\uffff`]);
    const keys = (await done(store.getAllKeys(range))) as [string, string][];
    return keys.some(([base]) => base !== this.#base && !base.slice(folder.length).includes('/'));
  }

  /** What the first entry goes on from. */
  keepFrom(from: Run['from']): void {
    this.#put({ name: FROM, record: spelled(from), superseded: [] });
  }

  /** What an engine has become ready with. */
  keepSettings(settings: EngineSettings): void {
    this.#put({ name: SETTINGS, record: spelled(settings), superseded: [] });
  }

  /** kubetabHost.keep. */
  keep(name: string, record: Uint8Array, superseded: string): void {
    this.#put({
      name,
      record: record.byteLength > 0 ? record : null,
      superseded: superseded === '' ? [] : superseded.split(' '),
    });
  }

  /** Forgets everything, and is done when that is on the disk. */
  async clear(): Promise<void> {
    this.#waiting = [];
    this.#stopped = false;
    try {
      const database = await this.#database;
      await done(database.transaction(STORE, 'readwrite').objectStore(STORE).delete(this.#all()));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Keeps nothing more until `clear`, and leaves what is there. */
  stop(): void {
    this.#stopped = true;
    this.#waiting = [];
  }

  #put(change: Change): void {
    if (this.#stopped) return;
    this.#waiting.push(change);
    if (!this.#writing) this.#written = this.#write();
  }

  async #write(): Promise<void> {
    this.#writing = true;
    try {
      const database = await this.#database;
      while (this.#waiting.length > 0) {
        const changes = this.#waiting;
        this.#waiting = [];
        const transaction = database.transaction(STORE, 'readwrite', { durability: 'relaxed' });
        const store = transaction.objectStore(STORE);
        for (const { name, record, superseded } of changes) {
          for (const old of superseded) store.delete([this.#base, old]);
          if (record === null) store.delete([this.#base, name]);
          else store.put(record, [this.#base, name]);
        }
        await new Promise<void>((resolve, reject) => {
          transaction.oncomplete = () => resolve();
          transaction.onabort = () => reject(transaction.error);
        });
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#writing = false;
    }
  }

  #all(): IDBKeyRange {
    return IDBKeyRange.bound([this.#base], [this.#base, []]);
  }

  #fail(error: unknown): void {
    if (this.#stopped) return;
    this.stop();
    console.warn(`kubetab: the cluster is not kept for the next visit: ${String(error)}`);
  }
}

interface Change {
  readonly name: string;
  /** Null to forget. */
  readonly record: Uint8Array | null;
  readonly superseded: readonly string[];
}

function spelled(fact: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(fact));
}

function unspelled<T>(record: Uint8Array): T {
  return JSON.parse(new TextDecoder().decode(record)) as T;
}

const STORE = 'journal';

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open('kubetab', 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return done(request);
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
