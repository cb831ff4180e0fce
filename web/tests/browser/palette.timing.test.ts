import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openPage } from './browser';
import { newBrowser } from './visitors';

// The palette has an answer before a hand has left the key.

const here = newBrowser();
let page: Page;

beforeAll(async () => {
  page = await openPage(await here.browser.newContext(), here.url);
});

test('among two thousand objects, a key is answered at once', async () => {
  await page.evaluate(async () => {
    const make = async (i: number) => {
      const answer = await window.kubetab.direct?.request('/api/v1/namespaces/default/configmaps', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ metadata: { name: `berth-of-boat-${i}` } }),
      });
      if (!answer?.ok) throw new Error(await answer?.text());
    };
    for (let i = 0; i < 2000; i += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, j) => make(i + j)));
    }
  });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to or run' }).waitFor();
  await page.keyboard.type('berth');
  await page.getByText('The first 60 of 2,000.').waitFor();
  await expect.poll(() => page.getByText('Reading the objects').count()).toBe(0);
  const times = await page.evaluate(async () => {
    const input = document.querySelector('.palette-input') as HTMLInputElement;
    const taken: number[] = [];
    for (const typed of ['b', 'be', 'boat-19', 'harbour boat 7', 'bob9', 'berth-of-boat-1999']) {
      const began = performance.now();
      input.value = typed;
      input.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      taken.push(Math.round(performance.now() - began));
    }
    return taken;
  });
  expect(times.toSorted((a, b) => a - b)[3], times.join(', ')).toBeLessThan(100);
  const chosen = page.locator('.palette-list [aria-selected="true"]');
  await expect.poll(() => chosen.textContent()).toBe('berth-of-boat-1999defaultConfigMap');
});
