import { type DBSchema, deleteDB, type IDBPDatabase, type IDBPObjectStore, openDB } from 'idb';
import { suffixOf } from '../../client/cluster-names';
import { nameIn } from '../../client/folder';

/*
 * The database of clusters, and what all who open it agree on. Each record has a key of two parts:
 *
 *   base                                      name
 *   /folder/kubetab.<hash>.snapshot           entry of the journal, or one of the names below
 *   /folder/{cluster}/kubetab.<hash>.snapshot
 *
 * A base is the address of the snapshot that the entries go on from. Another build has another hash.
 */

/** What is kept beside the entries. No entry's name begins like these. */
export const SETTINGS = ' settings';
export const FROM = ' from';
/** When something was kept last, in ms since the epoch. */
export const TIME = ' time';
/** What the entries come to. */
export const BYTES = ' bytes';

/** What `sumOf` says of the names of the entries. Earlier builds have written none. */
export const SUM = ' sum';

/** A set of names as one short record, so that a lost one is noticed. */
export interface NameSum {
  readonly count: number;
  /** Exclusive or of the names' FNV-1a hashes, of two beginnings. */
  readonly hashes: readonly [number, number];
}

export const NO_NAMES: NameSum = { count: 0, hashes: [0, 0] };

/** The sum of a set with one name more (1) or without one that it had (-1). */
export function summed(sum: NameSum, name: string, by: 1 | -1): NameSum {
  const [one, two] = sum.hashes;
  const hashes = [one ^ fnv(name, 0x811c9dc5), two ^ fnv(name, 0x1b873593)] as const;
  return { count: sum.count + by, hashes };
}

function fnv(text: string, offset: number): number {
  let hash = offset;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}

/** The entry with the bundle that a cluster begins with, until an engine has begun with it: wasm/journal_js.go. */
export const BUNDLE = 'bundle';

export const STORE = 'journal';

interface KeptRecords extends DBSchema {
  readonly journal: { readonly key: Key; readonly value: Uint8Array };
}

export type Key = [base: string, name: string];

export type Database = IDBPDatabase<KeptRecords>;

/** The records, within a transaction. */
export type Journal<Mode extends IDBTransactionMode = 'readwrite'> = IDBPObjectStore<
  KeptRecords,
  ['journal'],
  'journal',
  Mode
>;

/** @param folder path of the site, with a slash at its end */
export function folderOf(folder: string, cluster: string): string {
  const suffix = suffixOf(cluster);
  return suffix ? `${folder}${suffix}/` : folder;
}

/** The folder of the site that a base is in. */
export function siteOf(base: string): string {
  return base.replace(/(\{[^/]*\}\/)?[^/]*$/, '');
}

/**
 * @param site path of the site, with a slash at its end; a copy of the page in another folder has another database, because
 *   one of another build may have another form
 * @param onDeleted called when somebody deletes the database, or has done so: it is closed then, because a deletion waits
 *   for all who have it open
 * @returns rejects where storage is closed to this site, or the browser cannot open the database for two seconds
 */
export function openDatabase(
  site: string,
  onDeleted: () => void = () => undefined,
): Promise<Database> {
  return patiently(() => openOnce(site, onDeleted));
}

/** @param open opens a database; it is called again where the browser cannot open it now */
export async function patiently<T>(open: () => Promise<T>): Promise<T> {
  for (const wait of AGAIN) {
    try {
      return await open();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
  return open();
}

/**
 * Settles as what is done in a database does, and rejects when the browser closes that, as it does with the data of a site
 * that is cleared: of a transaction that was being committed, Chromium then tells nothing any more.
 */
export function unlessClosed<T>(
  database: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>,
  done: Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onClose = () => {
      reject(new DOMException('The browser has closed the database.', 'AbortError'));
    };
    database.addEventListener('close', onClose);
    void done.then(resolve, reject).finally(() => {
      database.removeEventListener('close', onClose);
    });
  });
}

/** After how long opening is tried again, in ms. */
const AGAIN = [100, 400, 1500];

/**
 * What a browser says while files of the database are in use, as by one that was killed and has not ended; and while it is
 * deleting them.
 */
function isPassing(error: unknown): boolean {
  return error instanceof DOMException && /^(Unknown|Abort)Error$/.test(error.name);
}

function openOnce(site: string, onDeleted: () => void): Promise<Database> {
  return openDB<KeptRecords>(nameIn(site, 'kubetab'), 1, {
    upgrade: (database) => void database.createObjectStore(STORE),
    blocking: (_current, _wanted, { target }) => {
      (target as IDBDatabase).close();
      onDeleted();
    },
    terminated: onDeleted, // as a browser does that clears the data of a site
  });
}

/**
 * Has Chromium begin a new log for what is written into the databases of this site. Its LevelDB writes a record as a header
 * and what belongs to it, and goes on with the same log when it is opened again. Where the browser was killed in between, the
 * next one writes behind half a record; the one after that finds a wrong checksum there, and deletes all databases of the
 * site. A database that is deleted has its keys compacted, and LevelDB leaves its log for that. It takes some 30 ms; nothing
 * depends on it, and a browser that does not answer is waited for a second at most.
 *
 * @param site path of the site, with a slash at its end
 */
export async function renewLog(site: string): Promise<void> {
  // Of all browsers only Chromium has this property, and LevelDB.
  if (!('dataLoss' in IDBVersionChangeEvent.prototype)) return;
  const name = nameIn(site, 'kubetab log');
  const renewed = openDB(name, 1, { upgrade: (database) => void database.createObjectStore(STORE) })
    .then((database) => database.close())
    .then(() => deleteDB(name));
  const overdue = new Promise((over) => setTimeout(over, 1000));
  await Promise.race([renewed.catch(() => undefined), overdue]);
}

/** All records of a base. */
export function allOf(base: string): IDBKeyRange {
  return IDBKeyRange.bound([base], endOf(base));
}

/** A key behind all records of a base: any array comes after any text. */
export function endOf(base: string): Key {
  return [base, [] as unknown as string];
}

export function isFull(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'QuotaExceededError';
}

export function spelled(fact: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(fact));
}

/** @throws SyntaxError for what `spelled` has not made */
export function unspelled<T>(record: Uint8Array): T {
  return JSON.parse(new TextDecoder().decode(record)) as T;
}

/** What a record TIME says; 0, long ago, when it says nothing that can be read. */
export function timeOf(record: unknown): number {
  try {
    const time = unspelled<unknown>(record as Uint8Array);
    return typeof time === 'number' && Number.isFinite(time) ? time : 0;
  } catch {
    return 0;
  }
}

/**
 * Takes the lock of a base, which its engine holds while it lives.
 *
 * @param patience how long it is waited for, in ms
 * @returns how to give it back; null when somebody else has had it all the time
 */
export async function lock(base: string, patience: number): Promise<(() => void) | null> {
  if (!navigator.locks) return () => undefined;
  const options: LockOptions =
    patience === 0
      ? { ifAvailable: true }
      : Number.isFinite(patience)
        ? { signal: AbortSignal.timeout(patience) }
        : {};
  return new Promise((got) => {
    navigator.locks
      .request(lockName(base), options, (granted) => {
        if (!granted) return got(null);
        return new Promise<void>((unlock) => got(unlock));
      })
      .catch(() => got(null));
  });
}

export function lockName(base: string): string {
  return `kubetab-kept-${base}`;
}
