import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

// A module of the page does nothing when it is imported: main.tsx and the views say what begins, and when. It may read where
// the page is and what the browser has kept.

const page = resolve(import.meta.dirname, '../../src/page');
const modules = readdirSync(page, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => relative(page, join(entry.parentPath, entry.name)))
  .filter((name) => name !== 'main.tsx')
  .sort();

let done: string[] = [];
const acts = (what: string) => () => {
  done.push(what);
};

beforeAll(() => {
  const storage = {
    getItem: () => null,
    setItem: acts('keeps something in storage'),
    removeItem: acts('removes something from storage'),
  };
  vi.stubGlobal('document', {
    baseURI: 'https://site.example/',
    documentElement: { dataset: {}, style: {} },
    addEventListener: acts('listens to the document'),
  });
  vi.stubGlobal('location', new URL('https://site.example/'));
  vi.stubGlobal(
    'window',
    Object.assign(globalThis, { localStorage: storage, sessionStorage: storage }),
  );
  vi.stubGlobal('addEventListener', acts('listens to the window'));
  // xterm.js follows how dense the screen is.
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined }));
  vi.stubGlobal('setInterval', acts('starts an interval'));
  vi.stubGlobal('fetch', acts('fetches'));
  vi.stubGlobal('indexedDB', { open: acts('opens a database') });
  vi.stubGlobal(
    'BroadcastChannel',
    class {
      constructor() {
        acts('opens a channel')();
      }
    },
  );
});
afterAll(() => vi.unstubAllGlobals());

test.each(modules)('%s does nothing when it is imported', async (name) => {
  done = [];
  await import(join(page, name));
  expect(done).toEqual([]);
});

test.each(modules)('%s has declarations alone', (name) => {
  const text = readFileSync(join(page, name), 'utf8').replaceAll(/`[^`]*`/g, '``');
  const statements = text.match(
    /^(?:(?:void |await )?[a-zA-Z][\w.]*(?:\(| \+?= )|(?:if|for|try|while)\b).*/gm,
  );
  expect(statements ?? []).toEqual([]);
});
