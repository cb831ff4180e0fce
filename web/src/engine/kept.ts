import type { EngineSettings, Run } from '../protocol';

/** What an earlier engine has left. */
export interface Earlier {
  readonly settings: EngineSettings;
  /** What the entries go on from; null when there are none. */
  readonly from: Run['from'] | null;
  readonly entries: readonly (readonly [name: string, record: Uint8Array])[];
  /** The entries are those of another build, to be taken over. */
  readonly isOfOther: boolean;
  /** How many clusters other builds have left in the same folder. */
  readonly others: number;
}

/** What is kept beside the entries. No entry's name begins like these. */
const SETTINGS = ' settings';
const FROM = ' from';
const TIME = ' time';

/**
 * What the cluster of this browser has become, kept from visit to visit in IndexedDB: entries of the engine's journal,
 * under the snapshot they go on from, and the settings that the engine ran with. Another build has another snapshot; what
 * its engine has left is given to the first engine of this build, and is there until that one has become ready with it.
 *
 * Entries are written in the order in which Go names them, in transactions of what has come together since the last
 * one began; so what is there is always a state that the cluster had. A first change is written at once. While changes
 * keep coming, a transaction begins every PACE milliseconds, and a tab that is closed loses at most so much: one for each
 * change would keep the browser busier than the API server is.
 */
export class Kept {
  readonly #base: string;
  readonly #database: Promise<IDBDatabase>;
  #waiting: Change[] = [];
  #writing = false;
  /** When the last transaction did, by performance.now(). */
  #began = Number.NEGATIVE_INFINITY;
  #written: Promise<void> = Promise.resolve();
  #stopped = false;
  /** Whose cluster is being taken over: until it is, nothing is written. */
  #taking: { readonly base: string; unlock: (() => void) | null; forget: boolean } | null = null;
  #ignoresOthers = false;

  /** @param base names the snapshot */
  constructor(base: string) {
    this.#base = base;
    this.#database = open();
    this.#database.catch((error) => this.#fail(error));
    void lock(base, Number.POSITIVE_INFINITY); // nobody shall delete what is in use
  }

  /** Everything, with what was given to keep before. Without a database there is nothing. */
  async read(): Promise<Earlier> {
    if (this.#taking) this.#waiting = []; // of an engine that did not become ready
    this.#endTaking();
    try {
      await this.#written;
      const others = await this.#others();
      const mine = await this.#read(this.#base);
      if (mine.entries.length > 0 || this.#ignoresOthers) {
        return { ...mine, isOfOther: false, others: others.length };
      }
      const [base] = others;
      if (base !== undefined) {
        // The engine of a page that has just been reloaded may take a moment to end.
        this.#taking = { base, unlock: await lock(base, PATIENCE), forget: false };
        return { ...(await this.#read(base)), isOfOther: true, others: others.length };
      }
      return { ...mine, isOfOther: false, others: others.length };
    } catch (error) {
      this.#fail(error);
      return { settings: {}, from: null, entries: [], isOfOther: false, others: 0 };
    }
  }

  async #read(base: string): Promise<Pick<Earlier, 'settings' | 'from' | 'entries'>> {
    let settings: EngineSettings = {};
    let from: Earlier['from'] = null;
    const entries: [string, Uint8Array][] = [];
    const store = (await this.#database).transaction(STORE).objectStore(STORE);
    const [keys, records] = await Promise.all([
      done(store.getAllKeys(allOf(base))),
      done(store.getAll(allOf(base))),
    ]);
    keys.forEach((key, i) => {
      const name = (key as [string, string])[1];
      const record = records[i] as Uint8Array;
      if (name === SETTINGS) settings = unspelled(record);
      else if (name === FROM) from = unspelled(record);
      else if (name !== TIME) entries.push([name, record]);
    });
    // Builds before settings were kept wrote entries alone.
    return { settings, from: entries.length > 0 ? (from ?? 'snapshot') : null, entries };
  }

  /** Other snapshots of this folder that have entries, the one that was used last first. */
  async #others(): Promise<string[]> {
    const folder = this.#base.slice(0, this.#base.lastIndexOf('/') + 1);
    const store = (await this.#database).transaction(STORE).objectStore(STORE);
    const range = IDBKeyRange.bound([folder], [`${folder}\uffff`]);
    const keys = (await done(store.getAllKeys(range))) as [string, string][];
    const bases = new Set(keys.map(([base]) => base));
    const times = new Map<string, number>();
    for (const base of bases) {
      if (base === this.#base || base.slice(folder.length).includes('/')) continue;
      const time: Uint8Array | undefined = await done(store.get([base, TIME]));
      times.set(base, time ? unspelled<number>(time) : 0);
    }
    return [...times.keys()].sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0));
  }

  /**
   * The engine has taken over what `read` gave of another build.
   *
   * @returns whether that is forgotten then: there is nothing more in it, and no engine uses it
   */
  takenOver(isWhole: boolean): boolean {
    const taking = this.#taking;
    if (!taking) return false;
    taking.forget = isWhole && taking.unlock !== null;
    return taking.forget;
  }

  /** What `read` gave of another build is of no use, and left as it is: what comes is a cluster that begins. */
  refused(): void {
    this.#waiting = [];
  }

  /** What other builds have left is not to be taken over. */
  ignoreOthers(): void {
    this.#ignoresOthers = true;
  }

  /** Forgets what other builds have left, unless they use it. */
  async forgetOthers(): Promise<number> {
    const others = await this.#others();
    let left = 0;
    for (const base of others) {
      const unlock = await lock(base, 0);
      if (!unlock) {
        left++;
        continue;
      }
      const store = (await this.#database).transaction(STORE, 'readwrite').objectStore(STORE);
      await done(store.delete(allOf(base)));
      unlock();
    }
    return left;
  }

  /** What the first entry goes on from. */
  keepFrom(from: Run['from']): void {
    this.#put({ name: FROM, record: spelled(from), superseded: [] });
  }

  /** An engine has become ready, with these settings. */
  keepSettings(settings: EngineSettings): void {
    this.#put({ name: SETTINGS, record: spelled(settings), superseded: [] });
    this.#put({ name: TIME, record: spelled(Date.now()), superseded: [] });
    const taking = this.#taking;
    if (!taking) return;
    // In the one transaction that begins with what has been waiting.
    if (taking.forget && !this.#stopped) this.#waiting.push({ forget: taking.base });
    this.#endTaking();
    if (!this.#writing) this.#written = this.#write();
  }

  #endTaking(): void {
    this.#taking?.unlock?.();
    this.#taking = null;
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
    this.#ignoresOthers = true;
    this.#endTaking();
    try {
      const database = await this.#database;
      await done(
        database.transaction(STORE, 'readwrite').objectStore(STORE).delete(allOf(this.#base)),
      );
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
    if (!this.#writing && !this.#taking) this.#written = this.#write();
  }

  async #write(): Promise<void> {
    this.#writing = true;
    try {
      const database = await this.#database;
      while (this.#waiting.length > 0) {
        await after(this.#began + PACE - performance.now());
        this.#began = performance.now();
        const changes = this.#waiting;
        this.#waiting = [];
        const transaction = database.transaction(STORE, 'readwrite', { durability: 'relaxed' });
        const store = transaction.objectStore(STORE);
        for (const change of changes) {
          if ('forget' in change) {
            store.delete(allOf(change.forget));
            continue;
          }
          const { name, record, superseded } = change;
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

  #fail(error: unknown): void {
    if (this.#stopped) return;
    this.stop();
    console.warn(`kubetab: the cluster is not kept for the next visit: ${String(error)}`);
  }
}

type Change =
  | {
      readonly name: string;
      /** Null to forget. */
      readonly record: Uint8Array | null;
      readonly superseded: readonly string[];
    }
  /** All of another snapshot. */
  | { readonly forget: string };

function allOf(base: string): IDBKeyRange {
  return IDBKeyRange.bound([base], [base, []]);
}

/** The least time from the beginning of a transaction to the next one's, in ms. */
const PACE = 100;

/** Resolves in so many ms; at once when there are none. */
async function after(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}

/** How long what another engine keeps is waited for, in ms. */
const PATIENCE = 3000;

/** Takes the lock of a cluster, until what it returns is called; null when somebody else has it for so many ms. */
async function lock(base: string, patience: number): Promise<(() => void) | null> {
  if (!navigator.locks) return () => undefined;
  const options: LockOptions =
    patience === 0
      ? { ifAvailable: true }
      : Number.isFinite(patience)
        ? { signal: AbortSignal.timeout(patience) }
        : {};
  return new Promise((got) => {
    navigator.locks
      .request(`kubetab-kept-${base}`, options, (granted) => {
        if (!granted) return got(null);
        return new Promise<void>((unlock) => got(unlock));
      })
      .catch(() => got(null));
  });
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
