/**
 * What the cluster of this browser has become, kept from visit to visit in IndexedDB: entries of the engine's journal,
 * under the snapshot they go on from. Another build has another snapshot, and with it a cluster of its own.
 *
 * Entries are written in the order in which Go names them, in transactions of what has come together since the last
 * one began; so what is there is always a state that the cluster had, at most some milliseconds old.
 */
export class Kept {
  readonly #base: string;
  readonly #database: Promise<IDBDatabase>;
  #waiting: Change[] = [];
  #writing = false;
  #broken = false;

  /** @param base names the snapshot */
  constructor(base: string) {
    this.#base = base;
    this.#database = open();
    this.#database.catch((error) => this.#fail(error));
  }

  /** Everything, by name. Without a database there is nothing. */
  async read(): Promise<[name: string, record: Uint8Array][]> {
    try {
      const store = (await this.#database).transaction(STORE).objectStore(STORE);
      const [keys, records] = await Promise.all([
        done(store.getAllKeys(this.#all())),
        done(store.getAll(this.#all())),
      ]);
      return keys.map((key, i) => [(key as [string, string])[1], records[i] as Uint8Array]);
    } catch (error) {
      this.#fail(error);
      return [];
    }
  }

  /** kubetabHost.keep. */
  keep(name: string, record: Uint8Array, superseded: string): void {
    if (this.#broken) return;
    this.#waiting.push({
      name,
      record,
      superseded: superseded === '' ? [] : superseded.split(' '),
    });
    if (!this.#writing) void this.#write();
  }

  /** Forgets everything, and is done when that is on the disk. */
  async clear(): Promise<void> {
    this.#waiting = [];
    try {
      const database = await this.#database;
      await done(database.transaction(STORE, 'readwrite').objectStore(STORE).delete(this.#all()));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Keeps nothing more, and leaves what is there. */
  stop(): void {
    this.#broken = true;
    this.#waiting = [];
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
          if (record.byteLength > 0) store.put(record, [this.#base, name]);
          else store.delete([this.#base, name]);
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
    if (this.#broken) return;
    this.stop();
    console.warn(`kubetab: the cluster is not kept for the next visit: ${String(error)}`);
  }
}

interface Change {
  readonly name: string;
  readonly record: Uint8Array;
  readonly superseded: readonly string[];
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
