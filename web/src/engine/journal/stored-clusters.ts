import { isClusterName, OWN } from '../../client/cluster-names';
import { uniqueName } from '../../client/unique';
import type { EngineSettings, JournalMessage } from '../../protocol';
import {
  allOf,
  BUNDLE,
  BYTES,
  type Database,
  endOf,
  FROM,
  folderOf,
  type Journal,
  type Key,
  lock,
  lockName,
  openDatabase,
  SETTINGS,
  STORE,
  spelled,
  TIME,
  timeOf,
  unspelled,
} from './database';
import { journalChannel } from './journal-channel';

/** What a browser keeps of a cluster, of all builds together. */
export interface StoredCluster {
  readonly name: string;
  readonly bytes: number;
  /** When something was kept last, in ms since the epoch; 0 if that cannot be told. */
  readonly lastUsed: number;
}

/** An engine uses it, and does not end. */
export class StillUsed extends Error {}

/** How long an engine may take to write what it has and to end, in ms. */
const PATIENCE = 10_000;

/**
 * The clusters that this browser keeps for one folder, beside the engines that write them. Nothing here is about objects:
 * a cluster is a set of records.
 */
export class StoredClusters {
  readonly #folder: string;
  #database: Promise<Database> | null = null;

  /** @param folder path of the site, with a slash at its end */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Reads no entries, except where an earlier build has not counted them. */
  async list(): Promise<StoredCluster[]> {
    const { store } = (await this.#open()).transaction(STORE);
    const found = new Map<string, StoredCluster>();
    for (const base of await this.#bases(store)) {
      const name = this.#clusterOf(base);
      if (name === null) continue;
      const [time, counted] = await Promise.all([
        store.get([base, TIME]),
        store.get([base, BYTES]),
      ]);
      const bytes = countOf(counted) ?? (await added(store, base));
      const before = found.get(name);
      found.set(name, {
        name,
        bytes: bytes + (before?.bytes ?? 0),
        lastUsed: Math.max(timeOf(time), before?.lastUsed ?? 0),
      });
    }
    return [...found.values()];
  }

  /**
   * Deletes all that is kept of a cluster. An engine of it that no page uses is ended first.
   *
   * @throws StillUsed
   */
  async remove(name: string): Promise<void> {
    const unlock = await this.#take(name);
    try {
      const { store, done } = (await this.#open()).transaction(STORE, 'readwrite');
      const bases = await this.#basesOf(name, store);
      await Promise.all([...bases.map((base) => store.delete(allOf(base))), done]);
    } finally {
      unlock();
    }
    this.#say({ type: 'has-room' });
  }

  /**
   * Makes a cluster of all that is kept of another, which may be in use: it is as it was when the engine was asked.
   *
   * @param to of which nothing is kept
   * @throws DOMException of the name QuotaExceededError when there is no room; nothing of the copy is there then
   */
  async copy(from: string, to: string): Promise<void> {
    await this.#flush(from);
    const { store, done } = (await this.#open()).transaction(STORE, 'readwrite');
    const records: [key: Key, record: Uint8Array][] = [];
    const [folder, target] = [folderOf(this.#folder, from), folderOf(this.#folder, to)];
    for (const base of await this.#basesOf(from, store)) {
      const copied = target + base.slice(folder.length);
      const [keys, values] = await Promise.all([
        store.getAllKeys(allOf(base)),
        store.getAll(allOf(base)),
      ]);
      keys.forEach(([, name], i) => {
        const record = values[i];
        if (record) records.push([[copied, name], record]);
      });
    }
    await Promise.all([...records.map(([key, record]) => store.put(record, key)), done]);
  }

  /**
   * Makes a cluster that begins with a bundle; the first engine of it reads the bundle, and keeps what it makes of it in its
   * place.
   *
   * @param to of which nothing is kept
   * @param snapshot the address of this build's, relative to the folder
   * @throws DOMException of the name QuotaExceededError when there is no room; nothing of the cluster is there then
   */
  async begin(
    to: string,
    snapshot: string,
    bundle: Uint8Array<ArrayBuffer>,
    settings: EngineSettings,
  ): Promise<void> {
    const { store, done } = (await this.#open()).transaction(STORE, 'readwrite');
    if ((await this.#basesOf(to, store)).length > 0) {
      throw new RangeError(`A cluster of the name ${to} is kept already.`);
    }
    const base = folderOf(this.#folder, to) + snapshot;
    await Promise.all([
      store.put(bundle, [base, BUNDLE]),
      // The engine puts the bundle in place of the snapshot's objects: wasm/journal_js.go.
      store.put(spelled('snapshot'), [base, FROM]),
      store.put(spelled(settings), [base, SETTINGS]),
      store.put(spelled(Date.now()), [base, TIME]),
      store.put(spelled(bundle.byteLength), [base, BYTES]),
      done,
    ]);
  }

  #open(): Promise<Database> {
    this.#database ??= openDatabase(this.#folder, () => {
      this.#database = null;
    });
    this.#database.catch(() => {
      this.#database = null;
    });
    return this.#database;
  }

  /** All bases of this folder and of the clusters in it. The cursor jumps over what each holds. */
  async #bases(store: Journal<IDBTransactionMode>): Promise<string[]> {
    const bases: string[] = [];
    const range = IDBKeyRange.bound([this.#folder], [`${this.#folder}\uffff`]);
    let cursor = await store.openKeyCursor(range);
    while (cursor) {
      const [base] = cursor.key;
      bases.push(base);
      cursor = await cursor.continue(endOf(base));
    }
    return bases;
  }

  async #basesOf(name: string, store: Journal<IDBTransactionMode>): Promise<string[]> {
    return (await this.#bases(store)).filter((base) => this.#clusterOf(base) === name);
  }

  /** Null for that of a site in a folder below. */
  #clusterOf(base: string): string | null {
    const parts = base.slice(this.#folder.length).split('/');
    if (parts.length === 1) return OWN;
    const name = /^\{(.*)\}$/.exec(parts[0] ?? '')?.[1];
    return parts.length === 2 && isClusterName(name) ? name : null;
  }

  /** Keeps engines from a cluster. */
  async #take(name: string): Promise<() => void> {
    const { store } = (await this.#open()).transaction(STORE);
    const bases = await this.#basesOf(name, store);
    this.#say({ type: 'end', folder: folderOf(this.#folder, name) });
    const unlocks: (() => void)[] = [];
    const unlock = () => {
      for (const each of unlocks) each();
    };
    for (const base of bases) {
      const mine = await lock(base, PATIENCE);
      if (!mine) {
        unlock();
        throw new StillUsed();
      }
      unlocks.push(mine);
    }
    return unlock;
  }

  /** Has the engine of a cluster write what it still holds; there may be none. */
  async #flush(name: string): Promise<void> {
    const held = (await navigator.locks?.query())?.held ?? [];
    const start = lockName(folderOf(this.#folder, name));
    const isRunning = held.some(
      (each) => each.name?.startsWith(start) && !each.name.slice(start.length).includes('/'),
    );
    if (!isRunning) return;
    const nonce = uniqueName();
    const channel = journalChannel(this.#folder);
    await new Promise<void>((flushed) => {
      const timer = setTimeout(flushed, PATIENCE);
      channel.onmessage = ({ data }: MessageEvent<JournalMessage>) => {
        if (data.type !== 'flushed' || data.nonce !== nonce) return;
        clearTimeout(timer);
        flushed();
      };
      const message: JournalMessage = {
        type: 'flush',
        folder: folderOf(this.#folder, name),
        nonce,
      };
      channel.postMessage(message);
    });
    channel.close();
  }

  #say(message: JournalMessage): void {
    const channel = journalChannel(this.#folder);
    channel.postMessage(message);
    channel.close();
  }
}

/** What BYTES says; null when it is not there or says nothing. */
function countOf(record: unknown): number | null {
  try {
    const count = unspelled<unknown>(record as Uint8Array);
    return typeof count === 'number' && count >= 0 ? count : null;
  } catch {
    return null;
  }
}

async function added(store: Journal<IDBTransactionMode>, base: string): Promise<number> {
  const records: unknown[] = await store.getAll(allOf(base));
  return records.reduce<number>(
    (sum, record) => sum + (record instanceof Uint8Array ? record.byteLength : 0),
    0,
  );
}
