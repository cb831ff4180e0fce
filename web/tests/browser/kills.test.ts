import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openPage, PATIENCE } from './browser';
import { chosen, FLAGS_OF_TESTS } from './chromium';
import { processesOf, signal } from './processes';
import { plain, type Site } from './site';

// An answer to a change means that the browser has it: what was acknowledged is there after all processes of the browser were
// killed while it wrote. make test-kill plays a hundred rounds.

const ROUNDS = Number(process.env.KUBETAB_KILLS ?? 2);
const WRITERS = 4;
const COLLECTION = '/api/v1/namespaces/default/configmaps';

/** What the pages have said in the console, for whoever looks for the reason of a failure. */
let said: string[] = [];
let site: Site;
let profile: string;
let context: BrowserContext | undefined;

beforeAll(async () => {
  site = await plain();
  profile = mkdtempSync(join(tmpdir(), 'kubetab-kills-'));
});
afterEach(async () => {
  await context?.close();
  context = undefined;
});
afterAll(async () => {
  await site?.close();
  rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
});

/** Starts a browser on the profile and returns the page when the API is ready. */
async function visit(acknowledged: (name: string) => void): Promise<Page> {
  context = await chromium.launchPersistentContext(profile, {
    executablePath: chosen(),
    args: [...FLAGS_OF_TESTS],
  });
  context.setDefaultTimeout(PATIENCE);
  await context.exposeFunction('acknowledged', acknowledged);
  said = [];
  context.on('console', (message) => said.push(message.text()));
  return openPage(context, site.url);
}

async function kill(): Promise<void> {
  const ended = new Promise((resolve) => context?.once('close', resolve));
  const all = processesOf((words) => words.includes(`--user-data-dir=${profile}`));
  expect(all.length).toBeGreaterThan(2);
  signal(all, 'SIGKILL');
  await ended;
  context = undefined;
}

/**
 * Leaves the log of the browser's database as it is when the browser is killed between the header of a record (of 352 bytes,
 * whole) and what belongs to it.
 */
function tear(): void {
  const folder = join(profile, 'Default/IndexedDB');
  const logs = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((file) => /leveldb\/\d+\.log$/.test(file));
  const last = logs.sort().at(-1) ?? '';
  appendFileSync(join(folder, last), Buffer.from([0x12, 0x34, 0x56, 0x78, 0x60, 0x01, 0x01]));
}

/** Creates objects without end, through the service worker and past it. */
const write = (page: Page, round: number) =>
  page.evaluate(
    ([collection, writers, prefix]) => {
      const { acknowledged } = window as unknown as { acknowledged(name: string): void };
      const headers = { 'content-type': 'application/json' };
      const writer = async (k: number) => {
        for (let i = 0; ; i++) {
          const name = `${prefix}-${k}-${i}`;
          const body = JSON.stringify({ metadata: { name } });
          const { status } =
            k % 2 === 0
              ? await fetch(collection, { method: 'POST', headers, body })
              : ((await window.kubetab.direct?.request(collection, {
                  method: 'POST',
                  headers,
                  body,
                })) ?? { status: 0 });
          if (status === 201) acknowledged(name);
        }
      };
      for (let k = 0; k < writers; k++) void writer(k);
    },
    [COLLECTION, WRITERS, `round${round}`] as const,
  );

/** Fails where something that was acknowledged is not there, and tells what the page and the database know of it. */
async function hasAll(page: Page, acknowledged: ReadonlySet<string>): Promise<void> {
  const there = new Set(await names(page));
  const lost = [...acknowledged].filter((name) => !there.has(name));
  if (lost.length === 0) return;
  const records = await page.evaluate(async () => {
    const counts: string[] = [];
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await new Promise<IDBDatabase>((opened, failed) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => opened(request.result);
        request.onerror = () => failed(request.error);
      });
      for (const store of database.objectStoreNames) {
        const request = database.transaction(store).objectStore(store).count();
        await new Promise((counted) => {
          request.onsuccess = counted;
        });
        counts.push(`${name} ${store}: ${request.result}`);
      }
    }
    return counts;
  });
  const log = join(profile, 'Default/IndexedDB');
  const files = readdirSync(log, { recursive: true }).map(String);
  const logs = files.filter((file) => /\/LOG/.test(file)).map((f) => readFileSync(join(log, f)));
  throw new Error(
    [
      `${lost.length} of ${acknowledged.size} are lost, the first is ${lost[0]}, the last ${lost.at(-1)}; ${there.size} are there`,
      `the page: ${await page.locator('.pill').textContent()}; ${said.join('; ')}`,
      `records: ${records.join(', ')}; files: ${files.join(' ')}`,
      ...logs,
    ].join('\n'),
  );
}

const names = (page: Page) =>
  page.evaluate(async (collection) => {
    const list = await (await fetch(collection)).json();
    return (list.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
  }, COLLECTION);

test(
  `what was acknowledged is there after ${ROUNDS} kills`,
  async () => {
    const all = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      let isEnough: () => void = () => undefined;
      const enough = new Promise<void>((resolve) => {
        isEnough = resolve;
      });
      const before = all.size;
      const page = await visit((name) => {
        all.add(name);
        if (all.size === before + 40 + (round % 20)) isEnough();
      });
      await hasAll(page, all);
      await write(page, round);
      await enough;
      await kill();
      tear();
    }
    const page = await visit(() => undefined);
    await hasAll(page, all);
    console.log(`${all.size} acknowledged writes are there after ${ROUNDS} kills`);
  },
  120_000 + ROUNDS * 120_000,
);

test.each(['indexeddb', 'all'])(
  'what was acknowledged is there after the data of the site was cleared under a running engine (%s)',
  async (storageTypes) => {
    const all = new Set<string>();
    let onMore: () => void = () => undefined;
    const more = async (count: number) => {
      const enough = all.size + count;
      await new Promise<void>((resolve) => {
        onMore = () => {
          if (all.size >= enough) resolve();
        };
      });
    };
    let page = await visit((name) => {
      all.add(name);
      onMore();
    });
    await page.goto(`${site.url}#files`);
    const files = (path: string, method: string) =>
      page.evaluate(
        async ([name, verb]) => {
          const body = verb === 'PUT' ? name : null;
          const url = `/kubetab/files/home/kubetab/${name}`;
          return (await window.kubetab.direct?.request(url, { method: verb, body }))?.ok;
        },
        [path, method] as const,
      );
    /** The files that are kept, of those that the editor shows and of the others. */
    const kept = () =>
      page.evaluate(async () => {
        // To open one that is not there would make it.
        const all = await indexedDB.databases();
        if (!all.some(({ name }) => name === 'kubetab-workspace')) return [];
        return new Promise<unknown[]>((told) => {
          const asked = indexedDB.open('kubetab-workspace');
          asked.onerror = () => told([]); // it is being deleted
          asked.onsuccess = () => {
            const { result } = asked;
            result.onclose = () => told([]);
            const stores = result.transaction(['files', 'others']);
            const keys = ['files', 'others'].map((name) => stores.objectStore(name).getAllKeys());
            stores.oncomplete = () => {
              result.close();
              told(keys.flatMap(({ result: paths }) => paths));
            };
          };
        });
      });
    await page.getByText('deployment.yaml').first().waitFor();
    expect(await files('note.txt', 'PUT')).toBe(true);
    expect(await files('.note', 'PUT')).toBe(true);
    const both = expect.arrayContaining(['deployment.yaml', 'note.txt', '.note']);
    await expect.poll(kept).toEqual(both);
    await write(page, storageTypes === 'all' ? ROUNDS : ROUNDS + 1);
    await more(20);
    const session = await page.context().newCDPSession(page);
    const { origin } = new URL(site.url);
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes });
    await page.getByText('All of the cluster was still in memory, and is kept again.').waitFor();
    await more(20);
    await expect.poll(kept).toEqual(both);
    await kill();
    page = await visit(() => undefined);
    await hasAll(page, all);
    await page.goto(`${site.url}#files`);
    for (const path of ['note.txt', '.note'])
      await expect.poll(() => files(path, 'GET')).toBe(true);
  },
  240_000,
);
