import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPage, ready } from './browser';
import { newBrowser } from './visitors';

// A cluster of a thousand objects is saved to a file, and opened, without a wait that one would notice.

const OBJECTS = 1000;
/** Milliseconds for saving, and for opening beyond what a file of an empty cluster needs: a new page and engine. */
const LIMIT = 1000;

const here = newBrowser();
const folder = mkdtempSync(join(tmpdir(), 'bundles-timing-'));
let page: Page;

beforeAll(async () => {
  page = await openPage(await here.browser.newContext({ acceptDownloads: true }), here.url);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const median = (times: readonly number[]) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;

/** How many ConfigMaps with the label the engine of the page has. */
const count = () =>
  page.evaluate(async () => {
    const answer = await window.kubetab.direct?.request(
      '/api/v1/namespaces/default/configmaps?labelSelector=app%3Dmany',
    );
    return JSON.parse((await answer?.text()) ?? '{}').items?.length as number | undefined;
  });

async function save(file: string): Promise<number> {
  const command = 'Save this cluster as a file, with its Secrets';
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to or run' }).fill(command);
  const option = page.getByRole('option').filter({ hasText: command }).first();
  await option.waitFor();
  const began = performance.now();
  const [download] = await Promise.all([page.waitForEvent('download'), option.click()]);
  await download.saveAs(file);
  return performance.now() - began;
}

/** Milliseconds until the cluster of a file answers, from when the file has been chosen. */
async function open(file: string, objects: number): Promise<number> {
  await page.locator('.cluster-button').click();
  const menu = page.getByRole('region', { name: 'Clusters' });
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    menu.getByRole('button', { name: 'Open a file', exact: true }).click(),
  ]);
  const before = await page.evaluate(() => document.documentElement.dataset.cluster);
  const began = performance.now();
  await chooser.setFiles(file);
  await page
    .locator(`html[data-cluster]:not([data-cluster="${before}"])`)
    .waitFor({ state: 'attached' });
  await ready(page);
  expect(await count()).toBe(objects);
  return performance.now() - began;
}

test('a thousand objects are saved in less than a second, and opening them takes less than a second more than opening none', async () => {
  const none = join(folder, 'none.kubetab');
  await save(none);
  await page.evaluate(async (objects) => {
    const make = async (i: number) => {
      const answer = await window.kubetab.direct?.request('/api/v1/namespaces/default/configmaps', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          metadata: { name: `boat-${i}`, labels: { app: 'many' } },
          data: { cargo: 'sand '.repeat(30) },
        }),
      });
      if (!answer?.ok) throw new Error(await answer?.text());
    };
    for (let i = 0; i < objects; i += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, j) => make(i + j)));
    }
  }, OBJECTS);
  const saved: number[] = [];
  const file = join(folder, 'many.kubetab');
  for (let i = 0; i < 3; i++) saved.push(await save(file));
  // In turns, because a machine is not as quick all the time.
  const empty: number[] = [];
  const opened: number[] = [];
  for (let i = 0; i < 3; i++) {
    empty.push(await open(none, 0));
    opened.push(await open(file, OBJECTS));
  }
  const all = (times: readonly number[]) => times.map(Math.round).join(', ');
  console.log(
    `saved in ${all(saved)} ms; opened with a new engine in ${all(opened)} ms, an empty cluster in ${all(empty)} ms`,
  );
  expect(median(saved)).toBeLessThan(LIMIT);
  expect(median(opened) - median(empty)).toBeLessThan(LIMIT);
});
