import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { chosen, FLAGS_OF_TESTS } from './chromium';
import { holdUp, LATE } from './late';

/** What the tests of this file opened; for what is told of a failure. */
export const browsers = new Set<Browser>();

/**
 * Milliseconds until something that should happen has not: for what hangs, not for what is slow. A machine under other
 * load, and four times slower than the one a test was written on, needs a good part of it. vitest.config.ts has the same.
 */
export const PATIENCE = 240_000;

/**
 * Its pages do not keep the module for visits without a network unless a test asks (keepForOffline): 15 seconds after a
 * start, the service worker would compress 220 MB beside the test.
 *
 * @param flags beside those of every test
 */
export async function launch(flags: readonly string[] = []): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: chosen(),
    args: [...FLAGS_OF_TESTS, ...flags],
  });
  browsers.add(browser);
  browser.on('context', (context) => {
    context.setDefaultTimeout(PATIENCE);
    // A context that is closed at once has no use for it.
    context.addInitScript(keepNothing).catch(() => undefined);
    if (LATE) context.addInitScript(...holdUp()).catch(() => undefined);
  });
  browser.once('disconnected', () => browsers.delete(browser));
  return browser;
}

/** Runs in pages: takes back what a page asks of the service worker by itself. */
function keepNothing(): void {
  if (!('serviceWorker' in navigator)) return;
  const { postMessage } = ServiceWorker.prototype;
  ServiceWorker.prototype.postMessage = function (message, ...more: unknown[]) {
    if (message?.type === 'keep-module' && !window.keepsModule) return;
    Reflect.apply(postMessage, this, [message, ...more]);
  };
}

/** Runs in pages: the first connection of the page's own code to its worker leads nowhere. */
export function connectInVain(): void {
  const Real = SharedWorker;
  let made = 0;
  window.SharedWorker = class extends Real {
    // early.js makes the first.
    readonly #nowhere = ++made === 2 ? new MessageChannel().port1 : null;
    override get port() {
      return this.#nowhere ?? super.port;
    }
  };
}

/** Has the service worker keep the module, as the page asks for it 15 seconds after a start. */
export async function keepForOffline(page: Page): Promise<void> {
  await page.evaluate(async () => {
    window.keepsModule = true;
    const { active } = await navigator.serviceWorker.ready;
    active?.postMessage({ type: 'keep-module' });
  });
}

/** How many files the engine is made of, as manifest.json tells: the module, its snapshot and its other parts. */
export function filesOf(module: object): number {
  return 1 + ['snapshot', 'soon', 'rest'].filter((name) => name in module).length;
}

declare global {
  interface Window {
    keepsModule?: true;
    /** Whether the page has said, at any time, that its engine is dead. */
    sawTrouble?: boolean;
  }
}

/**
 * Opens the page at a view that asks for little, and waits until the API is ready and plain fetch reaches it.
 */
export async function openPage(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${url}#settings`);
  await ready(page);
  await controlled(page);
  return page;
}

/** Waits for the pill; a first start on a busy machine takes its time. */
export async function ready(page: Page): Promise<void> {
  await page.locator('.pill.is-ready').waitFor();
}

/**
 * Does what has the engine of a page that is ready start anew, and waits until the next one is ready. A busy page may see the
 * first and the second engine and nothing between, so they are told apart by how long their starts took.
 */
export async function restarts(page: Page, act: () => Promise<unknown>): Promise<void> {
  const startOf = () => {
    const { state } = window.kubetab;
    return state?.phase === 'ready' ? state.startMs : null;
  };
  const before = await page.evaluate(startOf);
  expect(before).not.toBeNull();
  await act();
  await page.waitForFunction((earlier) => {
    const { state } = window.kubetab;
    return state?.phase === 'ready' && state.startMs !== earlier;
  }, before);
  await ready(page);
}

/**
 * Waits until the page is that of a cluster. Another one is entered by a navigation, in whose midst a document has no element
 * yet: a locator waits through that, what is evaluated in the page fails.
 */
export async function entered(page: Page, cluster: string): Promise<void> {
  await page.locator(`html[data-cluster="${cluster}"]`).waitFor({ state: 'attached' });
}

/** Waits until the page has been loaded again in a cluster, is ready, and plain fetch reaches that cluster's API. */
export async function arrives(page: Page, cluster: string): Promise<void> {
  await entered(page, cluster);
  await ready(page);
  await controlled(page);
}

export async function controlled(page: Page): Promise<void> {
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
}

/**
 * How many requests of a path are in flight inside the engine. Of all paths together that is never still: a page and the
 * terminals ask for something all the time.
 *
 * @param path and query, as it was asked for
 */
export async function inFlight(page: Page, path: string | RegExp): Promise<number> {
  const log = await page.evaluate(async () => {
    const answer = await window.kubetab.direct?.request('/kubetab/requests');
    return answer?.text();
  });
  const records = (log?.trim().split('\n') ?? []).map(
    (line) => JSON.parse(line) as { done?: boolean; path: string },
  );
  const isOfPath = ({ path: asked }: { path: string }) =>
    typeof path === 'string' ? asked === path : path.test(asked);
  return records.filter((record) => !record.done && isOfPath(record)).length;
}

/** Waits until the engine has so many requests of a path in flight: see `inFlight`. */
export async function settlesTo(page: Page, path: string | RegExp, count: number): Promise<void> {
  await expect.poll(() => inFlight(page, path)).toBe(count);
}

/** Stops every service worker of the browser, as the browser itself does after half a minute without events. */
export async function stopServiceWorkers(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const stopped = new Promise<void>((resolve) => {
    session.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
      if (versions.every(({ runningStatus }) => runningStatus === 'stopped')) resolve();
    });
  });
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  await stopped;
  await session.detach();
}

/** The SharedWorkers of a page's context, and a session with the browser to talk to them. */
export async function sharedWorkers(page: Page) {
  const browser = page.context().browser();
  if (!browser) throw new Error('The page belongs to no browser.');
  const ofPage = await page.context().newCDPSession(page);
  const { browserContextId } = (await ofPage.send('Target.getTargetInfo')).targetInfo;
  await ofPage.detach();
  const session = await browser.newBrowserCDPSession();
  const { targetInfos } = await session.send('Target.getTargets', {
    filter: [{ type: 'shared_worker' }],
  });
  // Workers of closed contexts may still be alive.
  const targets = targetInfos.filter((info) => info.browserContextId === browserContextId);
  return { session, targets };
}

/**
 * Evaluates an expression inside the SharedWorker, which Playwright does not reach by itself: in each of them, because one
 * that was restarted is still in the list while it ends.
 */
export async function inSharedWorker(page: Page, expression: string): Promise<void> {
  await tellSharedWorkers(page, 'Runtime.evaluate', { expression });
}

/** What the SharedWorkers have written to the console up to now: a browser tells that again to whoever asks late. */
export async function saidInSharedWorker(page: Page): Promise<string[]> {
  const told = await tellSharedWorkers(page, 'Runtime.enable');
  return told
    .filter(({ method }) => method === 'Runtime.consoleAPICalled')
    .map(
      ({ params }) =>
        params?.args?.map(({ value, description }) => String(value ?? description)).join(' ') ?? '',
    );
}

/** What was written to a console: an object has a description in place of a value. */
interface Said {
  readonly value?: unknown;
  readonly description?: string;
}

interface Told {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly args?: readonly Said[] };
}

/** Sends a command of the DevTools protocol to each SharedWorker, and returns what they have sent until they had done it. */
async function tellSharedWorkers(page: Page, method: string, params?: object): Promise<Told[]> {
  const { session, targets } = await sharedWorkers(page);
  if (!targets.length) throw new Error('There is no SharedWorker.');
  const message = JSON.stringify({ id: 1, method, params });
  const told: Told[] = [];
  await Promise.all(
    targets.map(async ({ targetId }) => {
      const attached = await session
        .send('Target.attachToTarget', { targetId, flatten: false })
        .catch(() => null); // it has ended meanwhile
      if (!attached) return;
      const { sessionId } = attached;
      const answered = new Promise<void>((resolve) => {
        session.on('Target.receivedMessageFromTarget', (event) => {
          if (event.sessionId !== sessionId) return;
          const each = JSON.parse(event.message) as Told;
          told.push(each);
          if (each.id === 1) resolve();
        });
        session.on('Target.detachedFromTarget', (event) => {
          if (event.sessionId === sessionId) resolve(); // it has ended
        });
      });
      await session.send('Target.sendMessageToTarget', { sessionId, message });
      await answered;
    }),
  );
  await session.detach();
  return told;
}
