import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { DESERTED } from '../../src/engine/parties';
import {
  connectInVain,
  controlled,
  filesOf,
  inFlight,
  inSharedWorker,
  keepForOffline,
  openPage,
  ready,
  restarts,
  settlesTo,
  sharedWorkers,
  stopServiceWorkers,
} from './browser';
import { newBrowser } from './visitors';

// Tabs, the service worker and the engine come and go independently: what is lost when one of them does.

const here = newBrowser();
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  context = await here.browser.newContext();
  page = await openPage(context, here.url);
});

const create = (on: Page, name: string) =>
  on.evaluate(async (object) => {
    const answer = await fetch('/api/v1/namespaces', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: object } }),
    });
    return answer.status;
  }, name);
const get = (on: Page, path: string) => on.evaluate(async (url) => (await fetch(url)).status, path);

test('the worker begins before the code of the page has come, which then finds that one', async () => {
  const fresh = await here.browser.newContext();
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await fresh.route(/\/assets\/index-[^/]*\.js$/, async (route) => {
    await released;
    await route.continue();
  });
  const early = await fresh.newPage();
  const workers = async () => {
    const { session, targets } = await sharedWorkers(early);
    await session.detach();
    return targets.map(({ targetId }) => targetId);
  };
  await early.goto(here.url, { waitUntil: 'commit' });
  await expect.poll(workers).toHaveLength(1);
  const begun = await workers();
  release();
  await ready(early);
  expect(await workers()).toEqual(begun);
  await fresh.close();
});

/** Runs in pages: they do not hear a service worker that asks for the way to their engine. */
function hearNoQuestion(): void {
  const { prototype } = ServiceWorkerContainer;
  const listen = prototype.addEventListener as (this: unknown, ...all: unknown[]) => void;
  prototype.addEventListener = function (type: string, hear: unknown, ...rest: unknown[]) {
    const most = (event: MessageEvent) => {
      if (event.data?.type !== 'want-engine') (hear as (e: MessageEvent) => void)(event);
    };
    listen.call(this, type, type === 'message' ? most : hear, ...rest);
  };
}

test('a page gives the service worker its way to the engine before it is asked', async () => {
  const deaf = await here.browser.newContext();
  await deaf.addInitScript(hearNoQuestion);
  const own = await openPage(deaf, here.url);
  expect(await get(own, '/api/v1/namespaces/default')).toBe(200);
  await deaf.close();
});

test('and so does one that has to connect to its engine twice', async () => {
  const deaf = await here.browser.newContext();
  await deaf.addInitScript(hearNoQuestion);
  await deaf.addInitScript(connectInVain);
  const own = await openPage(deaf, here.url);
  expect(await get(own, '/api/v1/namespaces/default')).toBe(200);
  await deaf.close();
});

test('changes that nobody waits for are kept in few transactions', async () => {
  await inSharedWorker(
    page,
    `{
      const begin = IDBDatabase.prototype.transaction;
      let count = 0;
      IDBDatabase.prototype.transaction = function (...all) {
        if (all[1] === 'readwrite') count++;
        return begin.apply(this, all);
      };
      const channel = new BroadcastChannel('transactions');
      channel.onmessage = () => channel.postMessage(count);
    }`,
  );
  const { ms, changes, count } = await page.evaluate(async () => {
    const began = performance.now();
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const labels = { app: 'kept' };
    const made = await fetch(deployments, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        metadata: { name: 'kept' },
        spec: {
          replicas: 40,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
        },
      }),
    });
    const { metadata } = await made.json();
    let object = { metadata, status: { availableReplicas: 0 } };
    while (object.status.availableReplicas !== 40) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      object = await (await fetch(`${deployments}/kept`)).json();
    }
    const elapsed = performance.now() - began;
    const channel = new BroadcastChannel('transactions');
    const told = new Promise<number>((resolve) => {
      channel.onmessage = ({ data }) => resolve(data);
    });
    channel.postMessage('how many?');
    const changes = object.metadata.resourceVersion - metadata.resourceVersion;
    await fetch(`${deployments}/kept`, { method: 'DELETE' });
    return { ms: elapsed, changes, count: await told };
  });
  expect(changes).toBeGreaterThan(200);
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThanOrEqual(ms / 100 + 10); // the creation has one of its own
});

test('two tabs see one cluster, and a closed tab leaves no watch behind', async () => {
  const path = '/api/v1/namespaces?watch=1';
  const second = await openPage(context, here.url);
  expect(await create(second, 'from-the-second-tab')).toBe(201);
  expect(await get(page, '/api/v1/namespaces/from-the-second-tab')).toBe(200);
  await second.evaluate(async (url) => {
    for (const request of [fetch, window.kubetab.direct?.request]) await request?.(url);
  }, path);
  expect(await inFlight(page, path)).toBe(2);
  await second.close();
  await settlesTo(page, path, 0);
});

test('the service worker is stopped, and nothing is lost', async () => {
  expect(await create(page, 'before-the-stop')).toBe(201);
  await stopServiceWorkers(page);
  expect(await get(page, '/api/v1/namespaces/before-the-stop')).toBe(200);
});

test('a stopped service worker leaves no request behind in the engine', async () => {
  const path = '/api/v1/namespaces?watch=1';
  // Until an answer has begun, Chromium sends the request to the next service worker by itself, and nothing breaks off.
  const watch = await page.evaluateHandle((url) => fetch(url), path);
  const broke = watch.evaluate((response) =>
    response.text().then(
      () => 'ended',
      () => 'broke off',
    ),
  );
  expect(await inFlight(page, path)).toBe(1);
  await stopServiceWorkers(page);
  expect(await broke).toBe('broke off');
  await settlesTo(page, path, 0);
});

test('an answer opened as a document cannot run script', async () => {
  const document = await context.newPage();
  const answer = await document.goto(`${here.url}api/v1/namespaces`);
  expect(answer?.status()).toBe(200);
  expect(answer?.headers()['content-security-policy']).toContain('sandbox');
  await document.close();
});

test('a page that was hard-reloaded has its answers, and is controlled again', async () => {
  await page.evaluate(() => {
    location.hash = '#console';
  });
  const session = await context.newCDPSession(page);
  await session.send('Page.reload', { ignoreCache: true });
  await ready(page);
  await page.locator('.code-badge').getByText('200 OK').waitFor();
  await controlled(page);
  expect(await get(page, '/api/v1/namespaces/before-the-stop')).toBe(200);
});

test('without any service worker the console works all the same', async () => {
  const private_ = await here.browser.newContext({ serviceWorkers: 'block' });
  const alone = await private_.newPage();
  await alone.goto(`${here.url}#console`);
  await ready(alone);
  await alone.locator('.code-badge').getByText('200 OK').waitFor();
  await alone.getByRole('button', { name: /^ready/ }).click();
  await alone.getByText('directly, without the service worker').waitFor();
  await private_.close();
});

test('the engine throws, and every page says so and can start again', async () => {
  const second = await openPage(context, here.url);
  // Go asks for random numbers to make a uid. What is thrown there unwinds through Go: its memory is lost.
  await inSharedWorker(
    page,
    `crypto.getRandomValues = () => { throw new Error('no entropy left') }`,
  );
  await page.evaluate(() => {
    void fetch('/api/v1/namespaces', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'last' } }),
    });
  });
  for (const each of [page, second]) {
    // What a view asked for meanwhile may be refused, and said so, too.
    const alert = each.getByRole('alert').filter({ has: each.getByRole('heading') });
    await alert.getByText('The API server crashed.').waitFor();
    await alert.getByText('no entropy left').first().waitFor();
    await alert.getByText(/Start it again: your objects are kept/).waitFor();
  }
  const answer = await page.evaluate(async () => {
    const response = await fetch('/api/v1/namespaces');
    return [response.status, response.headers.get('retry-after'), await response.json()];
  });
  expect(answer).toMatchObject([503, '30', { kind: 'Status', reason: 'ServiceUnavailable' }]);
  await inSharedWorker(page, 'delete crypto.getRandomValues');
  await page.getByRole('button', { name: 'Start again' }).click();
  await ready(second);
  expect(await get(page, '/api/v1/namespaces/before-the-stop')).toBe(200);
  await second.close();
});

test('a reload keeps the cluster, also with one tab only', async () => {
  expect(await create(page, 'before-the-reload')).toBe(201);
  await page.reload();
  await ready(page);
  expect(await get(page, '/api/v1/namespaces/before-the-reload')).toBe(200);
});

test('a page finds its worker although one that was ending has heard of it', async () => {
  // early.js connects as well.
  await inSharedWorker(
    page,
    `{
      const { onconnect } = self;
      let deaf = 2;
      self.onconnect = (event) => (deaf-- > 0 ? event.ports[0].close() : onconnect(event));
    }`,
  );
  const second = await context.newPage();
  await second.addInitScript(() => {
    new MutationObserver(() => {
      window.sawTrouble ||= document.querySelector('.trouble:not([hidden])') !== null;
    }).observe(document, { childList: true, subtree: true });
  });
  await second.goto(here.url);
  await ready(second);
  expect(await second.evaluate(() => window.sawTrouble)).toBe(false);
  expect(await create(page, 'in-the-same-worker')).toBe(201);
  expect(await get(second, '/api/v1/namespaces/in-the-same-worker')).toBe(200);
  await second.close();
});

test('a cluster that the last page has left ends, and its objects are kept', async () => {
  const other = await here.browser.newContext();
  const left = await openPage(other, here.url);
  const witness = await other.newPage();
  await inSharedWorker(
    left,
    `{
      const later = setTimeout;
      setTimeout = (what, ms, ...all) => later(what, ms === ${DESERTED} ? 0 : ms, ...all);
    }`,
  );
  // The service worker asks for nothing, and keeps nothing alive.
  expect(await create(left, 'before-it-ended')).toBe(201);
  await left.close();
  const workers = async () => {
    const { session, targets } = await sharedWorkers(witness);
    await session.detach();
    return targets;
  };
  await expect.poll(workers).toEqual([]);
  const again = await openPage(other, here.url);
  expect(await get(again, '/api/v1/namespaces/before-it-ended')).toBe(200);
  await other.close();
});

test('the page opens without a network, and the engine starts again from what was kept', async () => {
  const module: object = await page.evaluate(
    async () => (await (await fetch('manifest.json')).json()).module,
  );
  await keepForOffline(page);
  const kept = () =>
    page.evaluate(async () => (await (await caches.open('kubetab-module')).keys()).length);
  await expect.poll(kept, { interval: 200 }).toBe(filesOf(module));
  await context.setOffline(true);
  await page.reload();
  await ready(page);
  await restarts(page, () => page.evaluate(() => window.kubetab.restart()));
  expect(await get(page, '/readyz')).toBe(200);
  // An ordinary start calls what is not in the module, unless the module is whole.
  await restarts(page, () => page.evaluate(() => window.kubetab.restart({ nodes: 3 })));
  await page.waitForFunction(
    (fetches) => {
      const { state } = window.kubetab;
      return (
        state?.phase === 'ready' && (!fetches || state.stages.some(({ name }) => name === 'rest'))
      );
    },
    'rest' in module,
  );
  // It registers when the engine is ready.
  await expect.poll(() => get(page, '/api/v1/nodes/node-3')).toBe(200);
  await context.setOffline(false);
}, 900_000);

test('with no page open there is no way to an engine: a Status says what to do', async () => {
  await stopServiceWorkers(page);
  await page.close();
  const document = await context.newPage();
  const answer = await document.goto(`${here.url}api/v1/namespaces`);
  expect(answer?.status()).toBe(503);
  expect(answer?.headers()['retry-after']).toBe('5');
  expect(await answer?.json()).toMatchObject({ kind: 'Status', code: 503 });
});
