import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNamespace } from './acts';
import { controlled, keepForOffline, launch, openPage, ready, stopServiceWorkers } from './browser';
import { plain, type Site } from './site';

// Copies of the page on one origin: at its root, in a folder, and in a folder of another build. A copy is at home in its
// path, and nothing of it is shared.

const FOLDERS = ['', 'docs/kubetab/', 'previews/7/'] as const;

let browser: Browser;
let site: Site;
beforeAll(async () => {
  browser = await launch();
  site = await plain({
    folders: FOLDERS.map((folder) => `/${folder}`),
    // Another build has another name for what it keeps.
    worker: (text, folder) =>
      folder === '/previews/7/'
        ? text.replace(/(PRECACHES \+ )"[0-9a-f]+"/, '$1"ffffffffffff"')
        : text,
  });
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** Which of the copies' namespaces the API of a page has, by plain fetch. */
const namespaces = (page: Page) =>
  page.evaluate(async () => {
    const { items } = await (await fetch('api/v1/namespaces')).json();
    return (items as { metadata: { name: string } }[])
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith('of-copy-'));
  });

async function openAll(context: BrowserContext, folders: readonly string[]): Promise<Page[]> {
  const pages: Page[] = [];
  // The root first: its service worker controls the others until they have their own.
  for (const folder of folders) {
    const page = await openPage(context, site.url + folder);
    await page.waitForFunction(
      (url) => navigator.serviceWorker.controller?.scriptURL === url,
      `${site.url}${folder}sw.js`,
    );
    pages.push(page);
  }
  return pages;
}

async function eachHasItsOwn(pages: readonly Page[]): Promise<void> {
  for (const [i, page] of pages.entries())
    expect(await createNamespace(page, `of-copy-${i}`)).toBe(201);
  for (const [i, page] of pages.entries()) expect(await namespaces(page)).toEqual([`of-copy-${i}`]);
}

test('each copy has a cluster, a service worker and a storage of its own', async () => {
  const context = await browser.newContext();
  const pages = await openAll(context, FOLDERS);
  await eachHasItsOwn(pages);

  // A service worker that has been stopped knows nothing, and asks pages for the way.
  const [root, docs, preview] = pages as [Page, Page, Page];
  await stopServiceWorkers(root);
  for (const [i, page] of pages.entries()) expect(await namespaces(page)).toEqual([`of-copy-${i}`]);

  // The API of a copy is below its path. What is elsewhere on the origin is the host's, or another copy's.
  const statusOf = (url: string) => docs.evaluate(async (u) => (await fetch(u)).status, url);
  expect(await statusOf('/docs/kubetab/api/v1/namespaces/of-copy-1')).toBe(200);
  expect(await statusOf('/docs/api/v1/namespaces')).toBe(404);

  // What one keeps the others do not take for theirs, nor for the rest of an earlier build of theirs.
  const caches = await root.evaluate(async () => (await window.caches.keys()).sort());
  expect(caches.filter((name) => name.includes('kubetab-page-'))).toEqual([
    expect.stringMatching(/^\/docs\/kubetab\/ kubetab-page-[0-9a-f]{12}$/),
    '/previews/7/ kubetab-page-ffffffffffff',
    expect.stringMatching(/^kubetab-page-[0-9a-f]{12}$/),
  ]);
  const kept = (name: string) =>
    root.evaluate(async (n) => (await (await window.caches.open(n)).keys()).length, name);
  for (const [page, name] of [
    [docs, '/docs/kubetab/ kubetab-module'],
    [root, 'kubetab-module'],
  ] as const) {
    await keepForOffline(page);
    await expect.poll(() => kept(name)).toBeGreaterThan(0);
  }
  expect(await kept('/docs/kubetab/ kubetab-module')).toBeGreaterThan(0);
  await root.locator('.theme-button').click();
  const theme = (page: Page) => page.evaluate(() => document.documentElement.dataset.theme);
  const chosen = await theme(root);
  expect(chosen).toMatch(/light|dark/);

  // And a reload of all of them changes nothing.
  for (const [i, page] of pages.entries()) {
    await page.reload();
    await ready(page);
    await controlled(page);
    expect(await namespaces(page)).toEqual([`of-copy-${i}`]);
  }
  expect(await Promise.all([root, docs, preview].map(theme))).toEqual([
    chosen,
    undefined,
    undefined,
  ]);
  await context.close();
}, 900_000);

test('without SharedWorker, too, where tabs elect who has the engine', async () => {
  const context = await browser.newContext();
  await context.addInitScript(() => {
    Reflect.deleteProperty(window, 'SharedWorker');
  });
  const pages = await openAll(context, FOLDERS.slice(0, 2));
  await eachHasItsOwn(pages);
  expect(pages.map((page) => page.workers().length)).toEqual([1, 1]);
  await context.close();
});
