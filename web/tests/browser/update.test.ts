import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, openPage, ready } from './browser';
import { plain, type Site } from './site';

let browser: Browser;
let site: Site;
let version = 1;

beforeAll(async () => {
  [browser, site] = await Promise.all([
    launch(),
    plain({
      worker: (text) => text.replace('PRECACHES + "', (name) => `${name}${version}-`),
    }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

test('a new version waits until the user agrees, then every tab is of the new one', async () => {
  const context = await browser.newContext();
  const first = await openPage(context, site.url);
  const second = await openPage(context, site.url);
  const caches = () =>
    first.evaluate(async () =>
      (await window.caches.keys()).filter((n) => n.includes('page')).sort(),
    );
  expect(await caches()).toEqual([expect.stringMatching(/^kubetab-page-1-/)]);

  version = 2;
  await first.evaluate(async () => (await navigator.serviceWorker.ready).update());
  await first.getByText(/A new version of Kubetab is ready/).waitFor();
  // Both versions are there, and the open tabs still work.
  expect(await caches()).toHaveLength(2);
  expect(await second.evaluate(async () => (await fetch('/readyz')).status)).toBe(200);

  await Promise.all([
    ...[first, second].map((page) => page.waitForEvent('load')),
    first.getByRole('button', { name: 'Load it now' }).click(),
  ]);
  await ready(first);
  await ready(second);
  expect(await caches()).toEqual([expect.stringMatching(/^kubetab-page-2-/)]);
});
