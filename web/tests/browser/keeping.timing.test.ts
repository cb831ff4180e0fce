import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { filesOf, keepForOffline, openPage } from './browser';
import { answersOf, beginProbe, ENOUGH, now, percentiles, probeOf } from './probe';
import { newBrowser } from './visitors';

// To keep the module for visits without a network, the service worker compresses 200 MB. Every request goes through it.

const here = newBrowser();
let page: Page;

beforeAll(async () => {
  page = await openPage(await here.browser.newContext(), here.url);
  await beginProbe(page);
});

const kept = () =>
  page.evaluate(async () => (await (await caches.open('kubetab-module')).keys()).length);

/** How long answers take while `act` runs. */
async function during(act: () => Promise<unknown>) {
  const from = await now(page);
  await act();
  const to = await now(page);
  const { asked } = await probeOf(page);
  return percentiles(asked.filter(({ at }) => at >= from && at < to));
}

test('requests are as quick while the module is kept as afterwards', async () => {
  const { module } = await page.evaluate(async () => (await fetch('manifest.json')).json());
  await expect.poll(() => answersOf(page)).toBeGreaterThan(ENOUGH); // the first are slower
  const meanwhile = await during(async () => {
    await keepForOffline(page);
    await expect.poll(kept, { interval: 200 }).toBe(filesOf(module));
  });
  const enough = (await answersOf(page)) + ENOUGH;
  const after = await during(() => expect.poll(() => answersOf(page)).toBeGreaterThan(enough));
  console.log('while it is kept', meanwhile, 'afterwards', after);
  expect(meanwhile.answers).toBeGreaterThan(30);
  expect(meanwhile.p50).toBeLessThan(2 * after.p50);
});
