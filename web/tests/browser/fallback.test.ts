import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openPage, ready, settlesTo } from './browser';
import { newBrowser } from './visitors';

// Browsers without SharedWorker: one tab holds the engine in a worker of its own, the others reach it there.

const here = newBrowser();
let context: BrowserContext;
let leader: Page;
let follower: Page;
const complaints: string[] = [];

beforeAll(async () => {
  context = await here.browser.newContext();
  await context.addInitScript(() => {
    Reflect.deleteProperty(window, 'SharedWorker');
  });
  context.on('page', (page) => page.on('pageerror', (error) => complaints.push(String(error))));
  leader = await openPage(context, here.url);
  follower = await openPage(context, here.url);
});

const create = (on: Page, name: string) =>
  on.evaluate(async (object) => {
    const answer = await window.kubetab.direct?.request('/api/v1/namespaces', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: object } }),
    });
    return answer?.status;
  }, name);

test('one worker runs, in the first tab', () => {
  expect([leader.workers().length, follower.workers().length]).toEqual([1, 0]);
});

test('the other tab writes into the same cluster, and watches it', async () => {
  expect(await create(follower, 'from-the-follower')).toBe(201);
  const seen = await leader.evaluate(
    async () => (await fetch('/api/v1/namespaces/from-the-follower')).status,
  );
  expect(seen).toBe(200);
  const event = await follower.evaluate(async () => {
    const controller = new AbortController();
    const { direct } = window.kubetab;
    const watch = await direct?.request('/api/v1/namespaces?watch=1', {
      signal: controller.signal,
    });
    const first = await watch?.body?.getReader().read();
    controller.abort();
    return new TextDecoder().decode(first?.value).slice(0, 15);
  });
  expect(event).toBe('{"type":"ADDED"');
  await settlesTo(leader, '/api/v1/namespaces?watch=1', 0);
});

test('when the first tab is closed the other goes on with the cluster, and says so', async () => {
  await leader.close();
  await follower.getByText(/this tab has started it again/).waitFor();
  await ready(follower);
  expect(follower.workers().length).toBe(1);
  const kept = await follower.evaluate(
    async () => (await fetch('/api/v1/namespaces/from-the-follower')).status,
  );
  expect(kept).toBe(200);
});

test('a trap inside a timer of Go is shown as a crash', async () => {
  await follower.workers()[0]?.evaluate(() => {
    setTimeout(() => {
      throw new WebAssembly.RuntimeError('unreachable');
    });
  });
  const alert = follower.getByRole('alert');
  await alert.getByText('RuntimeError: unreachable', { exact: true }).waitFor();
  await alert.getByRole('button', { name: 'Start again' }).click();
  await ready(follower);
});

test('an engine that ends by itself is not passed over in silence', async () => {
  await follower.workers()[0]?.evaluate(() => globalThis.kubetabEngine?.close());
  await follower.getByRole('heading', { name: 'The API server ended.' }).waitFor();
  // The trap of the test before is the only error that went uncaught.
  expect(complaints.filter((each) => !each.includes('unreachable'))).toEqual([]);
});

/** Runs in pages: a worker that all connections of the page are told cannot be loaded, when it has connected twice. */
function loadSharedWorkerInVain(): void {
  const made: SharedWorker[] = [];
  window.SharedWorker = class extends EventTarget implements SharedWorker {
    readonly port = new MessageChannel().port1;
    onerror: SharedWorker['onerror'] = null;

    constructor() {
      super();
      made.push(this);
      if (made.length < 3) return; // early.js makes the first
      setTimeout(() => {
        for (const each of made) each.onerror?.(new ErrorEvent('error'));
      });
    }
  };
}

test('a tab whose SharedWorker cannot be loaded after a while has one worker, which it can start again', async () => {
  const slow = await here.browser.newContext();
  await slow.addInitScript(loadSharedWorkerInVain);
  const page = await openPage(slow, here.url);
  expect(page.workers().length).toBe(1);
  await page.workers()[0]?.evaluate(() => self.close());
  await page.getByRole('button', { name: 'Start again' }).click();
  await ready(page);
  await slow.close();
});
