import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import {
  clusterOfWorker,
  isClusterName,
  lessonCluster,
  preparedCluster,
} from '../../src/client/cluster-names';
import { nameIn } from '../../src/client/folder';

// public/early.js can import nothing: that it goes by the same names as the page and the workers is shown here.

const program = readFileSync(resolve(import.meta.dirname, '../../public/early.js'), 'utf8').replace(
  '__LESSON_IDS__',
  'first/request read/watch',
);

interface Visit {
  readonly site?: string;
  readonly search?: string;
  readonly hash?: string;
  readonly session?: Record<string, string>;
  readonly local?: Record<string, string>;
}

/** What a document finds at its beginning: its cluster, and the name of the worker that was begun. */
function visit({ site = '/site/', search = '', hash = '', session = {}, local = {} }: Visit) {
  const storage = (values: Record<string, string>) => ({
    getItem: (key: string) => values[key] ?? null,
    setItem: (key: string, value: string) => {
      values[key] = value;
    },
  });
  const dataset: { cluster?: string; theme?: string } = {};
  let worker = '';
  const window = {
    localStorage: storage(local),
    sessionStorage: storage(session),
  };
  runInNewContext(program, {
    window,
    ...window,
    URL,
    URLSearchParams,
    addEventListener: () => undefined,
    location: { search, hash },
    document: { baseURI: `https://example.com${site}`, documentElement: { dataset } },
    SharedWorker: class {
      constructor(_url: string, { name }: { name: string }) {
        worker = name;
      }
    },
  });
  return { cluster: dataset.cluster, theme: dataset.theme, worker, session };
}

test('a new tab is in the first cluster, whose worker has the name it always had', () => {
  expect(visit({})).toMatchObject({ cluster: 'own', worker: 'kubetab' });
});

test('an address names a lesson, a prepared cluster or one that is known', () => {
  const lesson = visit({ hash: '#/lesson/read/watch/3', session: { 'kubetab.in /site/': 'mine' } });
  expect(lesson).toMatchObject({ cluster: lessonCluster('read', 'watch') });
  expect(clusterOfWorker(lesson.worker)).toBe(lesson.cluster);
  expect(lesson.session).toEqual({ 'kubetab.in /site/': 'lesson-read-watch' });
  const folders = readdirSync(resolve(import.meta.dirname, '../../../tutorials/clusters'), {
    withFileTypes: true,
  }).filter((entry) => entry.isDirectory());
  expect(folders.length).toBeGreaterThan(0);
  for (const { name } of folders) {
    expect(visit({ search: `?cluster=${name}` }).cluster).toBe(preparedCluster(name));
  }
  const local = { 'kubetab.title /site/{mine}': 'Mine' };
  expect(visit({ search: '?cluster=mine', local }).cluster).toBe('mine');
  expect(visit({ search: '?cluster=own', session: { 'kubetab.in /site/': 'mine' } }).cluster).toBe(
    'own',
  );
});

test('a tab stays where it is', () => {
  const session = { 'kubetab.in /site/': 'mine', 'kubetab.in /other/': 'theirs' };
  expect(visit({ session }).cluster).toBe('mine');
  expect(visit({ session, search: '?cluster=unknown', hash: '#settings' }).cluster).toBe('mine');
});

test.each([
  '?cluster=..%2Fx',
  '?cluster=%7Bmine%7D',
  `?cluster=${'x'.repeat(64)}`,
  '?cluster=',
  '?cluster=lesson-read-watch',
])('%s leads nowhere', (search) => {
  const name = new URLSearchParams(search).get('cluster') ?? '';
  // Not even where something has left a title for it.
  const local = isClusterName(name) ? {} : { [`kubetab.title /site/{${name}}`]: 'x' };
  expect(visit({ search, local }).cluster).toBe('own');
});

test.each([
  '#/lesson/read',
  '#/lesson/Read/watch',
  '#/lesson/read/..%2Fwatch',
  '#/lesson//watch',
  '#/lesson/read/gone',
  '#/lesson/read/watching',
  '#lessons',
])('%s is no lesson: it begins no cluster', (hash) => {
  expect(visit({ hash }).cluster).toBe('own');
  expect(visit({ hash, session: { 'kubetab.in /site/': 'mine' } }).cluster).toBe('mine');
});

test('what a tab kept of a cluster is checked, too', () => {
  expect(visit({ session: { 'kubetab.in /site/': 'a/b' } }).cluster).toBe('own');
});

test('a worker of another name does not run', () => {
  expect(clusterOfWorker('kubetab')).toBe('own');
  expect(clusterOfWorker('kubetab{a-b}')).toBe('a-b');
  for (const name of ['', 'other', 'kubetab{', 'kubetab{A}', 'kubetab{a}{b}']) {
    expect(() => clusterOfWorker(name)).toThrow(RangeError);
  }
});

test('the theme is that of this copy of the page, not of another one on the origin', () => {
  const local = { 'kubetab.theme': 'dark', [nameIn('/site/', 'kubetab.theme')]: 'light' };
  expect(visit({ local }).theme).toBe('light');
  expect(visit({ local, site: '/' }).theme).toBe('dark');
  expect(visit({ local, site: '/site/1.0/' }).theme).toBeUndefined();
});
