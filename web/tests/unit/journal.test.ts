import { forceCloseDatabase, IDBFactory, IDBObjectStore } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { beforeEach, expect, test, vi } from 'vitest';
import { nameIn } from '../../src/client/folder';
import { openDatabase } from '../../src/engine/journal/database';
import { StoredClusters } from '../../src/engine/journal/stored-clusters';
import { StoredJournal } from '../../src/engine/journal/stored-journal';
import type { Unkept } from '../../src/protocol';

// What the browser keeps of clusters, on an IndexedDB in memory. There are no locks here, and no other threads.

beforeEach(() => {
  vi.restoreAllMocks();
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('indexedDB', new IDBFactory());
});

const SITE = '/site/';
const own = () => new StoredJournal(`${SITE}kubetab.1.snapshot`);
const named = (name: string) => new StoredJournal(`${SITE}{${name}}/kubetab.1.snapshot`);
const bytes = (...values: number[]) => Uint8Array.from(values);
const entriesOf = async (journal: StoredJournal) =>
  (await journal.read()).entries.map(([name, record]) => [name, ...record]);

/** Writes as an engine does that has become ready. */
async function fill(
  journal: StoredJournal,
  entries: Record<string, readonly number[]>,
): Promise<void> {
  await journal.read();
  journal.keepFrom('snapshot');
  journal.keepSettings({});
  for (const [name, record] of Object.entries(entries)) journal.keep(name, bytes(...record), '');
  await journal.flush();
}

/** Nothing can be written until the function that is returned is called. */
function fillTheDisk(): () => void {
  const spy = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
    throw new DOMException('no room', 'QuotaExceededError');
  });
  return () => spy.mockRestore();
}

test('clusters see nothing of each other, nor of a site in a folder below', async () => {
  await fill(own(), { a: [1] });
  await fill(named('two'), { a: [2], b: [3, 4] });
  await fill(new StoredJournal('/site/below/kubetab.1.snapshot'), { z: [9] });
  expect(await entriesOf(own())).toEqual([['a', 1]]);
  expect(await entriesOf(named('two'))).toEqual([
    ['a', 2],
    ['b', 3, 4],
  ]);
  const clusters = new StoredClusters(SITE);
  const listed = (await clusters.list()).map(({ name, bytes }) => [name, bytes]);
  expect(listed).toEqual([
    ['own', 1],
    ['two', 3],
  ]);
});

test('an entry that was lost is noticed, and what is left stays as it is', async () => {
  const first = own();
  await fill(first, { r1: [1], r2: [2], r3: [3] });
  first.keep('r4', bytes(4), 'r1 r2');
  await first.flush();
  const all = [
    ['r3', 3],
    ['r4', 4],
  ];
  expect(await entriesOf(own())).toEqual(all);
  const lose = async (name: string) => {
    const transaction = (await openDatabase(SITE)).transaction('journal', 'readwrite');
    transaction.objectStore('journal').delete([`${SITE}kubetab.1.snapshot`, name]);
    await new Promise((resolve) => {
      transaction.oncomplete = resolve;
    });
  };
  await lose('r3');
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const second = own();
  const told: (Unkept | null)[] = [];
  second.onUnkept = (unkept) => told.push(unkept);
  expect((await second.read()).entries).toEqual([]);
  expect(told).toMatchObject([
    { cause: 'failed', why: expect.stringContaining('1 records are there, of 2') },
  ]);
  second.keep('r5', bytes(5), 'r4');
  await second.flush();
  // Without the sum, as an earlier build has left it.
  await lose(' sum');
  expect(await entriesOf(own())).toEqual([['r4', 4]]);
});

test('what was kept before clusters had names is the first one, and counted', async () => {
  const opening = indexedDB.open(nameIn(SITE, 'kubetab'), 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore('journal');
  await new Promise((resolve) => {
    opening.onsuccess = resolve;
  });
  const write = opening.result.transaction('journal', 'readwrite');
  write.objectStore('journal').put(bytes(1, 2, 3), [`${SITE}kubetab.1.snapshot`, 'a']);
  await new Promise((resolve) => {
    write.oncomplete = resolve;
  });
  expect(await new StoredClusters(SITE).list()).toEqual([{ name: 'own', bytes: 3, lastUsed: 0 }]);
  expect(await entriesOf(own())).toEqual([['a', 1, 2, 3]]);
});

test('the size follows what is superseded', async () => {
  const journal = own();
  await fill(journal, { a: [1, 1, 1, 1], b: [2] });
  journal.keep('c', bytes(3, 3), 'a');
  journal.keep('b', bytes(), '');
  await journal.flush();
  expect(await new StoredClusters(SITE).list()).toMatchObject([{ bytes: 2 }]);
  const again = own();
  await again.read();
  again.keep('d', bytes(4), '');
  await again.flush();
  expect(await new StoredClusters(SITE).list()).toMatchObject([{ bytes: 3 }]);
});

test('a copy is equal, and goes its own way', async () => {
  await fill(own(), { a: [1], b: [2] });
  await fill(named('two'), { z: [9] });
  const clusters = new StoredClusters(SITE);
  await clusters.copy('own', 'three');
  const copy = named('three');
  expect(await entriesOf(copy)).toEqual(await entriesOf(own()));
  copy.keep('c', bytes(3), 'a');
  await copy.flush();
  expect(await entriesOf(own())).toEqual([
    ['a', 1],
    ['b', 2],
  ]);
  await clusters.remove('own');
  expect(await entriesOf(own())).toEqual([]);
  expect(await entriesOf(named('two'))).toEqual([['z', 9]]);
  expect(await entriesOf(named('three'))).toEqual([
    ['b', 2],
    ['c', 3],
  ]);
});

test('a cluster that begins with a bundle goes on from the snapshot, and takes the place of no other', async () => {
  await fill(named('two'), { a: [1] });
  const clusters = new StoredClusters(SITE);
  await clusters.begin('three', 'kubetab.1.snapshot', bytes(7, 8), { nodes: 3 });
  const three = await named('three').read();
  expect(three).toMatchObject({ settings: { nodes: 3 }, from: 'snapshot', isOfOther: false });
  expect(three.entries).toEqual([['bundle', bytes(7, 8)]]);
  for (const name of ['two', 'three']) {
    await expect(clusters.begin(name, 'kubetab.1.snapshot', bytes(9), {})).rejects.toThrow(name);
  }
  expect(await entriesOf(named('two'))).toEqual([['a', 1]]);
  const makeRoom = fillTheDisk();
  await expect(clusters.begin('four', 'kubetab.1.snapshot', bytes(9), {})).rejects.toThrow();
  makeRoom();
  expect((await clusters.list()).map(({ name }) => name)).toEqual(['three', 'two']);
});

test('without room nothing that was there is lost, and what happens is kept once there is some', async () => {
  const journal = own();
  const told: (Unkept | null)[] = [];
  journal.onUnkept = (unkept) => told.push(unkept);
  await fill(journal, { a: [1], b: [2] });
  const makeRoom = fillTheDisk();
  journal.keep('c', bytes(3), 'a');
  await journal.flush();
  expect(told).toEqual([{ cause: 'full', why: 'no room' }]);
  expect(await entriesOf(own())).toEqual([
    ['a', 1],
    ['b', 2],
  ]);
  // The engine goes on, and is even started again.
  journal.keep('d', bytes(4), 'b c');
  expect(await entriesOf(journal)).toEqual([['d', 4]]);
  makeRoom();
  journal.hasRoom();
  await journal.flush();
  expect(told).toEqual([{ cause: 'full', why: 'no room' }, null]);
  expect(await entriesOf(own())).toEqual([['d', 4]]);
  expect(await new StoredClusters(SITE).list()).toMatchObject([{ bytes: 1 }]);
});

test('a cluster that was begun anew while there was no room has nothing of the old one', async () => {
  const journal = own();
  await fill(journal, { a: [1] });
  const makeRoom = fillTheDisk();
  journal.keep('b', bytes(2), '');
  await journal.flush();
  await journal.clear();
  makeRoom();
  await fill(journal, { z: [9] });
  expect(await entriesOf(own())).toEqual([['z', 9]]);
});

test('a record that cannot be read is told, and left as it is', async () => {
  const journal = own();
  await fill(journal, { a: [1] });
  const opening = indexedDB.open(nameIn(SITE, 'kubetab'), 1);
  await new Promise((resolve) => {
    opening.onsuccess = resolve;
  });
  const write = opening.result.transaction('journal', 'readwrite');
  write.objectStore('journal').put('no bytes', [`${SITE}kubetab.1.snapshot`, 'a']);
  await new Promise((resolve) => {
    write.oncomplete = resolve;
  });
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const next = own();
  const told: (Unkept | null)[] = [];
  next.onUnkept = (unkept) => told.push(unkept);
  expect(await next.read()).toMatchObject({ from: null, entries: [] });
  expect(told).toMatchObject([{ cause: 'failed', why: 'The record a cannot be read.' }]);
  next.keep('b', bytes(2), '');
  await next.flush();
  expect(await new StoredClusters(SITE).list()).toMatchObject([{ name: 'own', bytes: 1 }]);
  // The way on: it is begun anew.
  await next.clear();
  expect(told.at(-1)).toBe(null);
  await fill(next, { z: [9] });
  expect(await entriesOf(own())).toEqual([['z', 9]]);
});

test('a database that the browser cannot open at first is opened a moment later', async () => {
  await fill(own(), { a: [1] });
  const open = vi.spyOn(indexedDB, 'open').mockImplementationOnce(() => {
    throw new DOMException('Internal error opening backing store', 'UnknownError');
  });
  const next = own();
  const told: (Unkept | null)[] = [];
  next.onUnkept = (unkept) => told.push(unkept);
  expect(await entriesOf(next)).toEqual([['a', 1]]);
  expect(told).toEqual([]);
  expect(open).toHaveBeenCalledTimes(2);
  open.mockRestore();
});

test('storage that is closed is not asked twice', async () => {
  const open = vi.spyOn(indexedDB, 'open').mockImplementation(() => {
    throw new DOMException('denied', 'SecurityError');
  });
  await expect(openDatabase(SITE)).rejects.toThrow('denied');
  expect(open).toHaveBeenCalledTimes(1);
  open.mockRestore();
});

test('a copy of the page in another folder has a database of its own', async () => {
  for (const [site, record] of [
    ['/', bytes(1)],
    ['/docs/', bytes(1, 2)],
    ['/docs/1.0/', bytes(1, 2, 3)],
  ] as const) {
    for (const folder of [site, `${site}{mine}/`]) {
      const journal = new StoredJournal(`${folder}kubetab.1.snapshot`);
      journal.keep('a', record, '');
      await journal.flush();
    }
    expect(await new StoredClusters(site).list()).toMatchObject([
      { name: 'own', bytes: record.length },
      { name: 'mine', bytes: record.length },
    ]);
  }
  const names = (await indexedDB.databases()).map(({ name }) => name);
  expect(names.sort()).toEqual(['/docs/ kubetab', '/docs/1.0/ kubetab', 'kubetab']);
});

test('who waits for a change is told when the transaction has ended, and does not wait for its turn', async () => {
  const journal = own();
  await fill(journal, { a: [1] });
  expect(journal.caughtUp()).toBeNull();
  for (const name of ['b', 'c', 'd']) {
    journal.keep(name, bytes(2), '');
    await journal.caughtUp();
    expect((await entriesOf(own())).map(([found]) => found)).toContain(name);
  }
  expect(journal.caughtUp()).toBeNull();
});

test('nobody waits for what there is no room for', async () => {
  const journal = own();
  await fill(journal, { a: [1] });
  const makeRoom = fillTheDisk();
  const unkept: (Unkept | null)[] = [];
  journal.onUnkept = (why) => unkept.push(why);
  journal.keep('b', bytes(2), '');
  await journal.caughtUp();
  expect(unkept).toMatchObject([{ cause: 'full' }]);
  journal.keep('c', bytes(3), '');
  expect(journal.caughtUp()).toBeNull();
  makeRoom();
  await journal.flush();
  expect((await entriesOf(own())).map(([name]) => name)).toEqual(['a', 'b', 'c']);
});

function deleteDatabase(): Promise<void> {
  return new Promise((deleted, reject) => {
    const request = indexedDB.deleteDatabase(nameIn(SITE, 'kubetab'));
    request.onsuccess = () => deleted();
    request.onblocked = () => reject(new Error('the engine holds the database'));
  });
}

test('a database that somebody deletes under an engine is written again, with what comes meanwhile', async () => {
  await fill(own(), { a: [1], b: [2] });
  const journal = own();
  const told: (Unkept | null)[] = [];
  journal.onUnkept = (unkept) => told.push(unkept);
  expect(await entriesOf(journal)).toEqual([
    ['a', 1],
    ['b', 2],
  ]);
  journal.keepSettings({ nodes: 3 });
  journal.keep('c', bytes(3), 'a');
  const deleted = deleteDatabase();
  journal.keep('d', bytes(4), '');
  await deleted;
  journal.keep('e', bytes(5), 'd');
  await journal.caughtUp();
  expect(told.map((unkept) => unkept?.cause)).toEqual(['lost', undefined]);
  const { entries, settings, from } = await own().read();
  expect(entries.map(([name]) => name)).toEqual(['b', 'c', 'e']);
  expect([settings, from]).toEqual([{ nodes: 3 }, 'snapshot']);
  // It goes on being kept, and is written again as often as that happens.
  for (let i = 0; i < 5; i++) {
    await deleteDatabase();
    journal.keep('f', bytes(i), '');
    await journal.caughtUp();
  }
  expect(await entriesOf(own())).toEqual([
    ['b', 2],
    ['c', 3],
    ['e', 5],
    ['f', 4],
  ]);
  expect(told.at(-1)).toBeNull();
});

test('a database that the browser has closed and not yet said so is written again', async () => {
  const journal = own();
  await fill(journal, { a: [1] });
  const spy = vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementationOnce(() => {
    throw new DOMException('closing', 'InvalidStateError');
  });
  journal.keep('b', bytes(2), 'a');
  await journal.caughtUp();
  expect(spy).toHaveBeenCalledTimes(2);
  expect(await entriesOf(own())).toEqual([['b', 2]]);
});

test('a transaction that the browser tells nothing more of, when it closes the database, is written again', async () => {
  const journal = own();
  const told: (Unkept | null)[] = [];
  journal.onUnkept = (unkept) => told.push(unkept);
  await fill(journal, { a: [1] });
  const begin = IDBDatabase.prototype.transaction;
  const begun = new Promise<IDBDatabase>((resolve) => {
    vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementationOnce(function (
      this: IDBDatabase,
      ...args
    ) {
      const transaction = begin.apply(this, args);
      // As Chromium's are while they are committed.
      transaction.addEventListener = () => undefined;
      resolve(this);
      return transaction;
    });
  });
  journal.keep('b', bytes(2), 'a');
  const isKept = journal.caughtUp();
  forceCloseDatabase((await begun) as never); // its type is that of the constructor
  await isKept;
  expect(told.map((unkept) => unkept?.cause)).toEqual(['lost', undefined]);
  expect(await entriesOf(own())).toEqual([['b', 2]]);
});

test('a database that is lost each time is given up', async () => {
  const journal = own();
  const told: (Unkept | null)[] = [];
  journal.onUnkept = (unkept) => told.push(unkept);
  await fill(journal, { a: [1] });
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(() => {
    throw new DOMException('closing', 'InvalidStateError');
  });
  journal.keep('b', bytes(2), '');
  await journal.caughtUp();
  expect(told.map((unkept) => unkept?.cause)).toEqual(['lost', 'failed']);
});

test('a deleted cluster that is too large to be in memory twice is told at once, and can be begun anew', async () => {
  const journal = own();
  const told: (Unkept | null)[] = [];
  journal.onUnkept = (unkept) => told.push(unkept);
  await fill(journal, { a: [1] });
  journal.keep('large', new Uint8Array(33_000_000), '');
  await journal.flush();
  await deleteDatabase();
  expect(told.map((unkept) => unkept?.cause)).toEqual(['deleted']);
  journal.keep('b', bytes(2), '');
  expect(journal.caughtUp()).toBeNull();
  await journal.clear();
  expect(told.at(-1)).toBeNull();
  await fill(journal, { c: [3] });
  expect(await entriesOf(own())).toEqual([['c', 3]]);
});

test('a cluster that is deleted from the list does not come back', async () => {
  const journal = named('two');
  await fill(journal, { a: [1] });
  await fill(own(), { z: [9] });
  // Its engine has been asked to end.
  await new StoredClusters(SITE).remove('two');
  await journal.flush();
  expect(await entriesOf(named('two'))).toEqual([]);
  expect((await new StoredClusters(SITE).list()).map(({ name }) => name)).toEqual(['own']);
});
