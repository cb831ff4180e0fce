import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { StartOptions } from '../../src/embed/client';
import { PageEngine } from '../../src/embed/engine';

// The engine of a page, with a client that a site has and that starts nothing.

let folder: string;
let started: StartOptions[];
let applied: string[];
let closed: number;
let fails = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubetab-site-'));
  writeFileSync(
    join(folder, 'embed-client.js'),
    'export const start = (o) => globalThis.startForTest(o);',
  );
  started = [];
  applied = [];
  fails = '';
  closed = 0;
  vi.stubGlobal('startForTest', async (options: StartOptions) => {
    const gone = new AbortController();
    started.push(options);
    if (fails === 'start') throw new Error('no');
    return {
      closed: gone.signal,
      close: () => {
        closed++;
        gone.abort();
      },
      apply: async (yaml: string) => {
        applied.push(yaml);
        return { stdout: '', stderr: `${yaml} is refused\n`, exitCode: yaml === fails ? 1 : 0 };
      },
    };
  });
  vi.stubGlobal('document', {
    baseURI: 'https://docs.example/guide/',
    documentElement: { closest: () => ({ getAttribute: () => 'en' }) },
    getElementById: (id: string) => (id === 'setup' ? { textContent: 'first' } : null),
  });
  vi.stubGlobal('fetch', async ({ href }: URL) =>
    href === 'https://docs.example/guide/second.yaml'
      ? new Response('second')
      : new Response('', { status: 404 }),
  );
});
afterEach(() => {
  vi.unstubAllGlobals();
  rmSync(folder, { recursive: true });
});

function engine(setup = '', bundle = '') {
  return new PageEngine({ site: pathToFileURL(`${folder}/`), setup, bundle, session: '' });
}

test('all that runs shares one engine, which is in a frame of the site', async () => {
  const page = engine();
  const [one, two] = await Promise.all([page.get(), page.get()]);
  expect(one).toBe(two);
  expect(started).toHaveLength(1);
  expect(String(started[0]?.iframe)).toBe(`${pathToFileURL(folder)}/embed.html`);
  expect(started[0]).not.toHaveProperty('bundle');
});

test('it begins with a bundle of the page, and with manifests in their order', async () => {
  await engine('#setup second.yaml', 'shop.kubetab').get();
  expect(String(started[0]?.bundle)).toBe('https://docs.example/guide/shop.kubetab');
  expect(applied).toEqual(['first', 'second']);
});

test('what it cannot begin with is said, and the next try begins again', async () => {
  const page = engine('#setup second.yaml');
  fails = 'second';
  await expect(page.get()).rejects.toThrow('second is refused');
  fails = 'start';
  await expect(page.get()).rejects.toThrow('no');
  fails = '';
  await page.get();
  expect(started).toHaveLength(3);
  expect(closed).toBe(1);
  await expect(engine('#nothing').get()).rejects.toThrow('There is no #nothing in this page.');
  await expect(engine('nothing.yaml').get()).rejects.toThrow('nothing.yaml could not be fetched.');
});

test('an engine that is gone is followed by another', async () => {
  const page = engine();
  const first = await page.get();
  first.close();
  await page.get();
  expect(started).toHaveLength(2);
});
