import type { EngineSettings, Run } from '../../protocol';
import {
  allOf,
  BYTES,
  type Database,
  FROM,
  type NameSum,
  NO_NAMES,
  SETTINGS,
  STORE,
  SUM,
  summed,
  TIME,
  timeOf,
  unspelled,
} from './database';

/** What is kept of a cluster. */
export interface Found {
  readonly settings: EngineSettings;
  /** What the entries go on from; null when there are none. */
  readonly from: Run['from'] | null;
  readonly entries: readonly (readonly [name: string, record: Uint8Array])[];
}

export const NOTHING: Found = { settings: {}, from: null, entries: [] };

/**
 * @param base names the snapshot
 * @throws Error when a record is no record, or one that was written is not there
 */
export async function readFound(database: Database, base: string): Promise<Found> {
  let settings: EngineSettings = {};
  let from: Found['from'] = null;
  let sum: NameSum | null = null;
  const entries: [string, Uint8Array][] = [];
  const { store } = database.transaction(STORE);
  const [keys, records] = await Promise.all([
    store.getAllKeys(allOf(base)),
    store.getAll(allOf(base)),
  ]);
  keys.forEach(([, name], i) => {
    const record: unknown = records[i];
    if (!(record instanceof Uint8Array)) throw new Error(`The record ${name} cannot be read.`);
    if (name === SETTINGS) settings = unspelled(record);
    else if (name === FROM) from = unspelled(record);
    else if (name === SUM) sum = unspelled(record);
    else if (name !== TIME && name !== BYTES) entries.push([name, record]);
  });
  if (sum) checkSum(sum, entries);
  // Builds before settings were kept wrote entries alone.
  return { settings, from: entries.length > 0 ? (from ?? 'snapshot') : null, entries };
}

/** Other snapshots of the folder of a base that have entries, the one that was used last first. */
export async function othersOf(database: Database, base: string): Promise<string[]> {
  const folder = base.slice(0, base.lastIndexOf('/') + 1);
  const { store } = database.transaction(STORE);
  const range = IDBKeyRange.bound([folder], [`${folder}\uffff`]);
  const keys = await store.getAllKeys(range);
  const times = new Map<string, number>();
  for (const other of new Set(keys.map(([each]) => each))) {
    if (other === base || other.slice(folder.length).includes('/')) continue;
    times.set(other, timeOf(await store.get([other, TIME])));
  }
  return [...times.keys()].sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0));
}

/**
 * Entries that later ones supersede are deleted, so that their numbers have gaps: only the sum tells of one that is lost.
 *
 * @throws Error when they are not those that were written
 */
function checkSum(sum: NameSum, entries: Found['entries']): void {
  let found = NO_NAMES;
  for (const [name] of entries) found = summed(found, name, 1);
  if (JSON.stringify(found) === JSON.stringify(sum)) return;
  throw new Error(
    `What is kept of the cluster is not whole: ${found.count} records are there, of ${sum.count} that were written.`,
  );
}
