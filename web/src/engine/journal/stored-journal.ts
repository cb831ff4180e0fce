import type { EngineSettings, Run, Unkept } from '../../protocol';
import { type Change, type KeptChange, settled } from './changes';
import {
  allOf,
  BYTES,
  type Database,
  FROM,
  isFull,
  type Journal,
  lock,
  openDatabase,
  renewLog,
  SETTINGS,
  STORE,
  SUM,
  siteOf,
  spelled,
  TIME,
  unlessClosed,
  unspelled,
} from './database';
import { type Found, NOTHING, othersOf, readFound } from './found';
import { Mirror, Tally } from './mirror';

/** What an earlier engine has left. */
export interface Earlier extends Found {
  /** The entries are those of another build, to be taken over. */
  readonly isOfOther: boolean;
  /** How many clusters other builds have left in the same folder. */
  readonly others: number;
}

/**
 * What a cluster of this browser has become, kept from visit to visit in IndexedDB: entries of the engine's journal,
 * under the snapshot they go on from, and the settings that the engine ran with. Another build has another snapshot; what
 * its engine has left is given to the first engine of this build, and is there until that one has become ready with it.
 * Other clusters have other folders (see database.ts), and are not looked at here.
 *
 * Each transaction stores a checksum of the names of all entries that are there afterwards. It tells an entry that the
 * browser has lost from an entry that a later one has superseded. If one is lost, the cluster is left as it is.
 *
 * Entries are written in the order in which Go names them, in transactions of what has come together since the last
 * one began; so what is there is always a state that the cluster had. A first change is written at once, and so is one whose
 * answer waits for it (`caughtUp`). While other changes keep coming, those of controllers, a transaction begins every PACE
 * milliseconds, and a tab that is closed loses at most so much of them: one for each change would keep the browser busier
 * than the API server is.
 *
 * When the browser has no room for a transaction, nothing of it is there, and what was there before is. Its changes wait
 * here then and are written once there is room: it is tried again every AGAIN milliseconds, and when somebody tells that
 * something was deleted.
 *
 * A browser may delete the database under a running engine, by itself or when somebody clears the data of the site. All of
 * a cluster is therefore here (see mirror.ts), too, and is written again into a new database. A cluster that is
 * deleted on purpose does not come back by that: its engine is ended first, and its records are deleted alone.
 */
export class StoredJournal {
  /** Called when what happens is no longer kept, and with null when it is again. */
  onUnkept: (unkept: Unkept | null) => void = () => undefined;

  readonly #base: string;
  #database: Promise<Database>;
  #waiting: Change[] = [];
  /** How many changes were given, and how many of the first ones need not be waited for any more. */
  #given = 0;
  #settled = 0;
  #waiters: Waiter[] = [];
  /** Begins a transaction that waits for its time. */
  #hurry: () => void = () => undefined;
  #writing = false;
  /** When the last transaction did, by performance.now(). */
  #began = Number.NEGATIVE_INFINITY;
  #written: Promise<void> = Promise.resolve();
  /** The browser's log is not one that ends with half a record. */
  #renewed: Promise<void> | null = null;
  #stopped = false;
  /** There was no room. */
  #full = false;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** Grows when everything is forgotten: what was being written then is not wanted any more. */
  #era = 0;
  #unkept: Unkept | null = null;
  /** Of the entries that are there. */
  readonly #tally = new Tally();
  /** What is there once what waits has been written. */
  readonly #mirror = new Mirror();
  /** How often all was begun to be written again since a transaction was done. */
  #losses = 0;
  /** Whose cluster is being taken over: until it is, nothing is written. */
  #taking: { readonly base: string; unlock: (() => void) | null; forget: boolean } | null = null;
  #ignoresOthers = false;

  /** @param base names the snapshot */
  constructor(base: string) {
    this.#base = base;
    this.#database = this.#open();
    void lock(base, Number.POSITIVE_INFINITY); // nobody shall delete what is in use
  }

  #open(): Promise<Database> {
    const opened: Promise<Database> = openDatabase(siteOf(this.#base), () => {
      if (opened === this.#database && !this.#again()) this.#deleted();
    });
    opened.catch((error) => {
      if (opened === this.#database) this.#fail(error);
    });
    return opened;
  }

  /** Everything, with what was given to keep before. Without a database there is nothing. */
  async read(): Promise<Earlier> {
    if (this.#taking) this.#drop(); // of an engine that did not become ready
    this.#endTaking();
    try {
      await this.#written;
      const others = await othersOf(await this.#database, this.#base);
      const mine = this.#withWaiting(await readFound(await this.#database, this.#base));
      this.#tally.begin(mine.entries);
      this.#mirror.begin(mine);
      if (mine.entries.length > 0 || this.#ignoresOthers) {
        return { ...mine, isOfOther: false, others: others.length };
      }
      const [base] = others;
      if (base !== undefined) {
        // The engine of a page that has just been reloaded may take a moment to end.
        this.#taking = { base, unlock: await lock(base, PATIENCE), forget: false };
        return {
          ...(await readFound(await this.#database, base)),
          isOfOther: true,
          others: others.length,
        };
      }
      return { ...mine, isOfOther: false, others: others.length };
    } catch (error) {
      this.#fail(error);
      return { settings: {}, from: null, entries: [], isOfOther: false, others: 0 };
    }
  }

  /** What is there once what waits for room has been written. */
  #withWaiting(found: Found): Found {
    if (this.#waiting.length === 0) return found;
    const entries = new Map(found.entries);
    let { settings, from } = found;
    for (const change of settled(this.#waiting)) {
      if ('forget' in change) {
        if (change.forget === this.#base) entries.clear();
        continue;
      }
      const { name, record } = change;
      if (record === null) entries.delete(name);
      else if (name === SETTINGS) settings = unspelled(record);
      else if (name === FROM) from = unspelled(record);
      else entries.set(name, record);
    }
    const all = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
    return { settings, from: all.length > 0 ? (from ?? 'snapshot') : null, entries: all };
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
    this.#drop();
    this.#mirror.begin(NOTHING);
  }

  /** What other builds have left is not to be taken over. */
  ignoreOthers(): void {
    this.#ignoresOthers = true;
  }

  /** Forgets what other builds have left, unless they use it. */
  async forgetOthers(): Promise<number> {
    const others = await othersOf(await this.#database, this.#base);
    let left = 0;
    for (const base of others) {
      const unlock = await lock(base, 0);
      if (!unlock) {
        left++;
        continue;
      }
      await (await this.#database).delete(STORE, allOf(base));
      unlock();
    }
    this.hasRoom();
    return left;
  }

  /** What the first entry goes on from. */
  keepFrom(from: Run['from']): void {
    this.#put({ name: FROM, record: spelled(from), superseded: [] });
  }

  /** An engine has become ready, with these settings. */
  keepSettings(settings: EngineSettings): void {
    this.#put({ name: SETTINGS, record: spelled(settings), superseded: [] });
    const taking = this.#taking;
    if (!taking) return;
    // In the one transaction that begins with what has been waiting.
    if (taking.forget && !this.#stopped) this.#waiting.push({ forget: taking.base });
    this.#endTaking();
    this.#begin();
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
    this.#drop();
    this.#stopped = false;
    this.#ignoresOthers = true;
    this.#era++;
    this.#tally.begin([]);
    this.#mirror.begin(NOTHING);
    this.#endTaking();
    try {
      if (this.#unkept?.cause === 'deleted') this.#database = this.#open();
      await (await this.#database).delete(STORE, allOf(this.#base));
      this.#tell(null);
      this.hasRoom();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Keeps nothing more until `clear`, and leaves what is there. */
  stop(): void {
    this.#stopped = true;
    this.#drop();
  }

  #drop(): void {
    this.#waiting = [];
    this.#settle(this.#given);
  }

  /** Resolves when everything that was given to keep is on the disk, or cannot be now. */
  async flush(): Promise<void> {
    this.hasRoom();
    await this.#written;
  }

  /**
   * Resolves when everything that was given to keep until now is in the database, or cannot be now, which `onUnkept`
   * tells. The browser has it then, and still has it after the processes of the tab and of the browser are killed.
   * After a failure of the machine it may be lost. A database that does not answer is waited for LONGEST milliseconds.
   *
   * @returns null when there is nothing to wait for
   */
  caughtUp(): Promise<void> | null {
    if (this.#settled === this.#given || this.#stopped || this.#full || this.#taking) return null;
    return new Promise((done) => {
      const overdue = setTimeout(done, LONGEST);
      const resolve = () => {
        clearTimeout(overdue);
        done();
      };
      this.#waiters.push({ upTo: this.#given, resolve });
      this.#hurry();
    });
  }

  /** The first changes up to this one need not be waited for any more. */
  #settle(upTo: number): void {
    this.#settled = Math.max(this.#settled, upTo);
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => waiter.upTo > this.#settled);
    for (const { upTo: until, resolve } of waiters) if (until <= this.#settled) resolve();
  }

  /** Something else has been deleted: what waits for room is tried again. */
  hasRoom(): void {
    clearTimeout(this.#retry);
    this.#full = false;
    this.#begin();
  }

  #put(change: KeptChange): void {
    if (this.#stopped) return;
    this.#waiting.push(change);
    this.#given++;
    for (const old of change.superseded) this.#mirror.note(old, null);
    this.#mirror.note(change.name, change.record);
    if (!this.#full) this.#begin();
    // It may be long until there is room, and it is the last state that counts.
    else if (this.#waiting.length > MOST) this.#waiting = settled(this.#waiting);
  }

  #begin(): void {
    if (this.#writing || this.#taking || this.#full || this.#waiting.length === 0) return;
    this.#written = this.#write();
  }

  async #write(): Promise<void> {
    this.#writing = true;
    try {
      await this.#database;
      this.#renewed ??= renewLog(siteOf(this.#base));
      await this.#renewed;
      while (this.#waiting.length > 0) {
        await this.#pace();
        const opened = this.#database;
        const database = await opened;
        this.#began = performance.now();
        const given = this.#given;
        const changes = this.#waiting;
        this.#waiting = [];
        const era = this.#era;
        try {
          await unlessClosed(database, this.#transact(database, changes));
          if (opened !== this.#database) continue; // it was deleted meanwhile
        } catch (error) {
          if (opened !== this.#database) continue;
          if (!isFull(error)) {
            // As when the browser has closed the database, and not yet said so.
            if (this.#stopped || !this.#again()) throw error;
            continue;
          }
          if (era !== this.#era || this.#stopped) continue;
          this.#waiting = settled([...changes, ...this.#waiting]);
          this.#full = true;
          this.#settle(this.#given);
          this.#retry = setTimeout(() => this.hasRoom(), AGAIN);
          this.#tell({ cause: 'full', why: words(error) });
          return;
        }
        this.#losses = 0;
        this.#settle(given);
        this.#tell(null);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#writing = false;
    }
  }

  /** Resolves when a transaction may begin: PACE after the last one did, or when somebody waits for it. */
  #pace(): Promise<void> {
    const ms = this.#began + PACE - performance.now();
    if (ms <= 0 || this.#waiters.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** All of it or nothing. */
  async #transact(database: Database, changes: readonly Change[]): Promise<void> {
    const transaction = database.transaction(STORE, 'readwrite', { durability: 'relaxed' });
    const asked: Promise<unknown>[] = [transaction.done];
    try {
      for (const request of this.#requests(transaction.store, changes)) asked.push(request);
      // Otherwise the browser's process commits when this thread has heard of each request and said that there are no more.
      transaction.commit();
    } catch (error) {
      transaction.abort();
      await Promise.allSettled(asked);
      throw error;
    }
    await Promise.all(asked);
  }

  *#requests(store: Journal, changes: readonly Change[]): Generator<Promise<unknown>> {
    for (const change of changes) {
      if ('forget' in change) {
        yield store.delete(allOf(change.forget));
        continue;
      }
      const { name, record, superseded } = change;
      for (const old of superseded) {
        yield store.delete([this.#base, old]);
        this.#tally.note(old, null);
      }
      yield record === null
        ? store.delete([this.#base, name])
        : store.put(record, [this.#base, name]);
      this.#tally.note(name, record);
    }
    yield store.put(spelled(Date.now()), [this.#base, TIME]);
    yield store.put(spelled(this.#tally.bytes), [this.#base, BYTES]);
    yield store.put(spelled(this.#tally.sum), [this.#base, SUM]);
  }

  #fail(error: unknown): void {
    if (this.#stopped) return;
    this.stop();
    this.#tell({ cause: 'failed', why: words(error) });
    console.warn(`kubetab: the cluster is not kept for the next visit: ${String(error)}`);
  }

  /**
   * Begins to write everything into a database that is opened anew, in place of what may be left of it.
   *
   * @returns false when it is not all here, or that has been tried often enough
   */
  #again(): boolean {
    const { records } = this.#mirror;
    if (this.#stopped || !records || this.#losses === MOST_LOSSES) return false;
    this.#losses++;
    this.#tell({ cause: 'lost', why: DELETED });
    this.#database = this.#open();
    this.#tally.begin([]);
    const all = [...records].map(([name, record]) => ({ name, record, superseded: [] }));
    this.#waiting = all.length > 0 ? [{ forget: this.#base }, ...all] : [];
    this.#begin();
    return true;
  }

  /** The database is closed, and with it the transaction that is under way. */
  #deleted(): void {
    this.stop();
    this.#tell({ cause: 'deleted', why: DELETED });
  }

  #tell(unkept: Unkept | null): void {
    if (unkept?.cause === this.#unkept?.cause) return;
    this.#unkept = unkept;
    this.onUnkept(unkept);
  }
}

const DELETED = 'The database was deleted.';

/** Somebody who waits until the first changes up to one are settled. */
interface Waiter {
  readonly upTo: number;
  readonly resolve: () => void;
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The least time from the beginning of a transaction to the next one's, in ms. */
const PACE = 100;
/** How long an answer waits for a transaction at most, in ms. */
const LONGEST = 5000;
/** After how long a full storage is tried again, in ms. */
const AGAIN = 10_000;
/** How many changes wait for room before they are settled. */
const MOST = 1000;
/** How often one after the other a database is lost before it is given up. */
const MOST_LOSSES = 3;

/** How long what another engine keeps is waited for, in ms. */
const PATIENCE = 3000;
