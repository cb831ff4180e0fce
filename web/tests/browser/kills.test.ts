import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPage, PATIENCE } from './browser';
import { chosen, FLAGS_OF_TESTS } from './chromium';
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
afterAll(async () => {
  await context?.close();
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

/** The processes of the browser that uses the profile: its first one, and those that come from it. */
function processes(): number[] {
  const parents = new Map<number, number>();
  let first = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const pid = Number(name);
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      const isFirst = !words.some((word) => word.startsWith('--type='));
      if (isFirst && words.includes(`--user-data-dir=${profile}`)) first = pid;
    } catch {
      // It has ended.
    }
  }
  const all = [first];
  for (const pid of all) for (const [child, parent] of parents) if (parent === pid) all.push(child);
  return first === 0 ? [] : all;
}

async function kill(): Promise<void> {
  const ended = new Promise((resolve) => context?.once('close', resolve));
  const all = processes();
  expect(all.length).toBeGreaterThan(2);
  for (const pid of all) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended with another.
    }
  }
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
