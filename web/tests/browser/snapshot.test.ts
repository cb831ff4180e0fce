import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, openPage, restarts } from './browser';
import { plain } from './site';

// The engine goes on from the snapshot that the build has taken. One that cannot be used costs a line in the console
// and the time of an ordinary start.

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

/** What the engine reports of its start, what it warned of, and what the page asks of it. */
async function start(
  snapshot?: (bytes: Buffer) => Buffer | null,
): Promise<{ stages: string[]; warnings: string[]; page: Page; close: () => Promise<void> }> {
  const site = await plain(snapshot ? { snapshot } : {});
  const context: BrowserContext = await browser.newContext();
  // A worker of the page's own: the console of a SharedWorker is out of reach.
  await context.addInitScript(() => {
    Reflect.deleteProperty(window, 'SharedWorker');
  });
  const warnings: string[] = [];
  context.on('console', (message) => {
    if (message.type() === 'warning') warnings.push(message.text());
  });
  const page = await openPage(context, site.url);
  const stages = await page.evaluate(() => {
    const { state } = window.kubetab;
    return state?.phase === 'ready' ? state.stages.map(({ name }) => name) : [];
  });
  const close = async () => {
    await context.close();
    await site.close();
  };
  return { stages, warnings, page, close };
}

test('the engine goes on from the snapshot, and what it does from then on is its own', async () => {
  const [first, second] = [await start(), await start()];
  const identity = ({ page }: { page: Page }) =>
    page.evaluate(async () => {
      const json = async (path: string, init?: RequestInit) => (await fetch(path, init)).json();
      const made = await json('/api/v1/namespaces/default/configmaps', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ metadata: { generateName: 'made-' } }),
      });
      return {
        key: (await json('/openid/v1/jwks')).keys[0].x as string,
        cluster: (await json('/api/v1/namespaces/kube-system')).metadata.uid as string,
        name: made.metadata.name as string,
        secondsAgo: (Date.now() - Date.parse(made.metadata.creationTimestamp)) / 1000,
      };
    });
  const [a, b] = [await identity(first), await identity(second)];
  for (const each of [first, second]) {
    // What comes soon may have come. A request that takes long is logged, for which the engine needs functions that it
    // seldom calls.
    const stages = each.stages.filter((name) => name !== 'soon' && name !== 'rest');
    expect(stages).toEqual(['compile', 'thaw', 'ready']);
    expect(each.warnings).toEqual([]);
    await each.close();
  }
  expect(a.key).not.toBe(b.key);
  expect(a.cluster).not.toBe(b.cluster);
  expect(a.name).not.toBe(b.name);
  expect(Math.abs(a.secondsAgo)).toBeLessThan(60);
});

test('the next visit finds the cluster as it was, until it is restarted', async () => {
  const site = await plain();
  const context = await browser.newContext();
  const namespace = (page: Page, init?: RequestInit) =>
    page.evaluate(async (options) => {
      const answer = await fetch(`/api/v1/namespaces${options ? '' : '/kept'}`, options);
      const { metadata } = await answer.json();
      return { status: answer.status, uid: metadata.uid, version: metadata.resourceVersion };
    }, init);
  const first = await openPage(context, site.url);
  const made = await namespace(first, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ metadata: { name: 'kept' } }),
  });
  expect(made.status).toBe(201);
  const before = await namespace(first);
  // Until it is on the disk, which takes some milliseconds.
  await first.waitForFunction(
    () =>
      new Promise((found) => {
        indexedDB.open('kubetab').onsuccess = ({ target }) => {
          const { result } = target as IDBOpenDBRequest;
          const all = result.transaction('journal').objectStore('journal').getAll();
          all.onsuccess = () => {
            const text = new TextDecoder();
            found(all.result.some((record) => text.decode(record).includes('namespaces/kept')));
            result.close();
          };
        };
      }),
    null,
    { polling: 50 },
  );
  await first.close();

  const second = await openPage(context, site.url);
  expect(await namespace(second)).toEqual({ ...before, status: 200 });
  await restarts(second, () => second.evaluate(() => window.kubetab.restart()));
  expect((await namespace(second)).status).toBe(404);
  await context.close();
  await site.close();
});

// What else can be wrong with one: tests/unit/snapshot.test.ts.
test('a snapshot that is altered leads to an ordinary start and one line', async () => {
  const { stages, warnings, page, close } = await start((bytes) =>
    bytes.fill(0, bytes.length - 4096),
  );
  expect(stages).toContain('storage');
  expect(warnings.length).toBe(1);
  expect(warnings[0]).toContain('kubetab: the engine is started without its snapshot:');
  expect(warnings[0]).toContain('not what was written');
  expect(await page.evaluate(async () => (await fetch('/readyz')).text())).toBe('ok');
  await close();
});
