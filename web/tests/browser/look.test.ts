import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inSharedWorker, launch, ready } from './browser';
import { openSite, type Site } from './site';

// Every state of the page in both themes and three sizes: a picture of each for people to look at, and axe on each.

const pictures = resolve(import.meta.dirname, '../../../build/screens');

let browser: Browser;
let site: Site;

beforeAll(async () => {
  mkdirSync(pictures, { recursive: true });
  [browser, site] = await Promise.all([launch(), openSite()]);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

const SIZES = { wide: [1440, 900], middle: [1024, 768], phone: [390, 844] } as const;
type Size = keyof typeof SIZES;

/** What axe finds wrong, in words. */
async function faults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

describe.each(['light', 'dark'] as const)('%s', (theme) => {
  let page: Page;

  beforeAll(async () => {
    const context = await browser.newContext({ colorScheme: theme, reducedMotion: 'reduce' });
    page = await context.newPage();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(site.url);
  });

  /** Takes the state in all sizes. `pane` is what a phone shows of it. */
  async function take(name: string, pane: 'Examples' | 'Request' | 'Response'): Promise<void> {
    for (const size of Object.keys(SIZES) as Size[]) {
      const [width, height] = SIZES[size];
      await page.setViewportSize({ width, height });
      if (size === 'phone') await page.locator('.phone-tabs').getByText(pane).click();
      await page.screenshot({ path: resolve(pictures, `${name}-${theme}-${size}.png`) });
      expect(await faults(page), `${name} ${theme} ${size}`).toEqual([]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow, `${name} ${size}: nothing sticks out`).toBeLessThanOrEqual(0);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  }

  const example = (title: string) => page.locator('.side').getByText(title, { exact: true });
  const send = () => page.getByRole('button', { name: 'Send' }).click();
  const status = (text: string) => page.locator('.code-badge').getByText(text).waitFor();

  test('starting', async () => {
    await page
      .getByText(/Downloading|Starting/)
      .first()
      .waitFor();
    await page.getByText('Queued').first().waitFor();
    await take('starting', 'Response');
  });

  test('first answer', async () => {
    await ready(page);
    await status('200 OK');
    await page.locator('.response-pane .cm-content').waitFor();
    await take('list', 'Response');
    await take('examples', 'Examples');
  });

  test('engine details', async () => {
    await page.getByRole('button', { name: /^ready/ }).click();
    await page.getByText('Goroutines').waitFor();
    await take('details', 'Response');
    await page.keyboard.press('Escape');
  });

  test('table', async () => {
    await example('List in chunks').click();
    await example('List as a table').click();
    await page.getByRole('cell', { name: 'kube-system' }).waitFor();
    await take('table', 'Response');
  });

  test('path suggestions', async () => {
    const path = page.getByRole('combobox', { name: 'Path and query' });
    await path.fill('/apis/apps/v1/namespaces/default/');
    await page.getByRole('option', { name: /^deployments/ }).waitFor();
    await path.press('ArrowDown');
    await path.press('ArrowDown');
    await take('suggestions', 'Response');
    await path.press('Escape');
  });

  test('writing and a conflict', async () => {
    await example('Apply a Deployment').click();
    await page.locator('.request-pane .cm-content').getByText('nginx:1.27').waitFor();
    await send();
    await status('201 Created');
    await take('apply', 'Request');
    await example('A conflict').click();
    await page.locator('.about').getByText('A conflict').waitFor();
    await send();
    await status('409 Conflict');
    await take('conflict', 'Response');
  });

  test('watch', async () => {
    await page.evaluate(async () => {
      const maps = '/api/v1/namespaces/default/configmaps';
      const json = { 'Content-Type': 'application/json' };
      for (const name of ['first', 'second', 'third']) {
        const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
        await window.kubetab.direct?.request(maps, { method: 'POST', headers: json, body });
      }
    });
    await example('Watch ConfigMaps').click();
    await page.locator('.event').getByText('third').waitFor();
    await page.evaluate(async () => {
      const map = '/api/v1/namespaces/default/configmaps/second';
      const headers = { 'Content-Type': 'application/merge-patch+json' };
      await window.kubetab.direct?.request(map, {
        method: 'PATCH',
        headers,
        body: '{"data":{"a":"1"}}',
      });
      await window.kubetab.direct?.request(map, { method: 'DELETE' });
    });
    await page.locator('.event').getByText('DELETED').waitFor();
    await page.locator('.event').first().getByRole('button').click();
    await page.locator('.event-object .cm-content').waitFor();
    await take('watch', 'Response');
    await page.keyboard.press('Escape');
  });

  test('history', async () => {
    await page.getByRole('tab', { name: 'History' }).click();
    await take('history', 'Examples');
    await page.getByRole('tab', { name: 'Examples' }).click();
  });

  test('crashed', async () => {
    await inSharedWorker(
      page,
      `crypto.getRandomValues = () => { throw new Error('no entropy left') }`,
    );
    await example('Create a ConfigMap').click();
    await send();
    await page.getByRole('alert').getByText('The API server crashed.').waitFor();
    await take('crashed', 'Response');
  });
});

test('nothing moves while the page starts', async () => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(() => {
    const shifts: [number, string][] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as LayoutShift[]) {
        const moved = entry.sources.map(({ node }) => (node as Element | null)?.className);
        shifts.push([entry.value, moved.join(', ')]);
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  const page = await context.newPage();
  await page.goto(site.url);
  await ready(page);
  await page.locator('.response-pane .cm-content').waitFor();
  const shifts = await page.evaluate(() => window.shifts);
  expect(
    shifts.reduce((sum, [value]) => sum + value, 0),
    JSON.stringify(shifts),
  ).toBeLessThan(0.01);
  await context.close();
});

test('what is needed for the first paint is under 100 KB', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  const weights = new Map<string, number>();
  const names = new Map<string, string>();
  session.on('Network.responseReceived', ({ requestId, response }) => {
    names.set(requestId, new URL(response.url).pathname);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    weights.set(names.get(requestId) ?? requestId, encodedDataLength);
  });
  await page.goto(site.url);
  await page.getByRole('combobox', { name: 'Path and query' }).waitFor();
  const html = await (await fetch(site.url)).text();
  // The document itself, and all that it names: the editor is loaded later, by the script.
  const named = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, file]) => `/${file}`);
  expect(named.some((file) => file.endsWith('.js'))).toBe(true);
  const first = ['/', ...named].reduce((sum, file) => sum + (weights.get(file) ?? 0), 0);
  expect(first).toBeGreaterThan(20_000);
  expect(first).toBeLessThan(100_000);
  await context.close();
});

interface LayoutShift extends PerformanceEntry {
  readonly value: number;
  readonly sources: readonly { readonly node: Node | null }[];
}

declare global {
  interface Window {
    readonly axe: typeof axe;
    readonly shifts: [number, string][];
  }
}
