import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, ready } from './browser';
import { Gate, plain, type Site } from './site';

// One field that leads everywhere, by keyboard alone.

let browser: Browser;
let site: Site;
let context: BrowserContext;
let page: Page;
const alarms: string[] = [];
const gate = new Gate();

beforeAll(async () => {
  gate.close();
  [browser, site] = await Promise.all([launch(), plain({ gate })]);
  context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
  page = await context.newPage();
  page.on('dialog', (dialog) => {
    alarms.push(dialog.message());
    void dialog.accept();
  });
  page.on('pageerror', (error) => alarms.push(String(error)));
  // A view that watches nothing itself: what is watched is the palette's.
  await page.goto(`${site.url}#settings`);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

const field = () => page.getByRole('combobox', { name: 'Go to or run' });
const options = () => page.getByRole('listbox', { name: 'Go to or run' }).getByRole('option');
const foot = () => page.locator('.palette-foot');
const chosen = () => page.locator('.palette-list [aria-selected="true"]');

async function open(typed: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await field().waitFor();
  await page.keyboard.type(typed);
}

/** Watches of metadata in flight: what the palette holds open, one for every kind. */
function watches(): Promise<number> {
  return page.evaluate(async () => {
    const log = await window.kubetab.direct?.request('/kubetab/requests');
    return ((await log?.text()) ?? '')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { done?: boolean; from: string; path: string })
      .filter(({ done, from, path }) => !done && from === 'view' && path.includes('watch=1'))
      .length;
  });
}

async function create(path: string, ...objects: unknown[]): Promise<void> {
  await page.evaluate(
    async ([to, bodies]) => {
      for (const body of bodies) {
        const answer = await window.kubetab.direct?.request(to, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        });
        if (!answer?.ok) throw new Error(await answer?.text());
      }
    },
    [path, objects] as const,
  );
}

test('before the API server is ready it has the page itself, and says what is missing', async () => {
  await page.locator('.pill').waitFor();
  await open('console');
  await options().first().getByText('Console').waitFor();
  await page
    .getByText('Objects of the cluster can be found when the API server is ready.')
    .waitFor();
  await page.keyboard.press('Escape');
  gate.open();
  await ready(page);
});

test('part of a name finds an object of any kind in any namespace, and Enter opens it', async () => {
  await create('/api/v1/namespaces', { metadata: { name: 'harbour' } });
  await create('/api/v1/namespaces/harbour/configmaps', { metadata: { name: 'tide-table' } });
  await create('/apis/coordination.k8s.io/v1/namespaces/harbour/leases', {
    metadata: { name: 'tide-keeper' },
  });
  await open('tide');
  await options().filter({ hasText: 'tide-keeper' }).waitFor();
  await expect
    .poll(() => options().allTextContents())
    .toEqual(['tide-tableharbourConfigMap', 'tide-keeperharbourLease']);
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => chosen().textContent()).toContain('tide-keeper');
  await page.keyboard.press('Enter');
  await page.getByRole('article', { name: 'Lease tide-keeper' }).waitFor();
  expect(new URL(page.url()).hash).toBe(
    '#cluster/apis/coordination.k8s.io/v1/namespaces/harbour/leases/tide-keeper',
  );
  await expect.poll(() => field().count()).toBe(0);
});

test('the keyboard goes back to where it was, and Enter takes it to what was opened', async () => {
  const focused = () =>
    page.evaluate(
      () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.id,
    );
  await page.getByLabel('Namespace', { exact: true }).focus();
  await open('tide');
  await page.keyboard.press('Escape');
  expect(await focused()).toBe('Namespace');
  await open('tide-table');
  await expect.poll(() => chosen().textContent()).toContain('tide-table');
  await page.keyboard.press('Enter');
  expect(await focused()).toBe('view');
});

test('what is made while it is open is found, and what is deleted is not', async () => {
  await open('flood');
  await foot().getByText('Nothing in the cluster or on this page is found by "flood".').waitFor();
  await create('/api/v1/namespaces/harbour/secrets', { metadata: { name: 'flood' } });
  await options().filter({ hasText: 'flood' }).waitFor();
  await page.evaluate(() =>
    window.kubetab.direct?.request('/api/v1/namespaces/harbour/secrets/flood', {
      method: 'DELETE',
    }),
  );
  await foot().getByText('Nothing in the cluster or on this page is found by "flood".').waitFor();
  await page.keyboard.press('Escape');
});

test('kinds by their short names, namespaces, and files', async () => {
  await open('svc');
  await expect.poll(() => chosen().textContent()).toBe('ServiceKind');
  await page.keyboard.press('Escape');
  await open('only harbour');
  await page.keyboard.press('Enter');
  await expect
    .poll(() => page.getByRole('combobox', { name: 'Namespace' }).inputValue())
    .toBe('harbour');
  await open('boats');
  await page.keyboard.press('Enter');
  await page.locator('.file-tab.is-chosen', { hasText: 'boats.yaml' }).waitFor();
  await open('all names');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByRole('combobox', { name: 'Namespace' }).inputValue()).toBe('');
});

test('a name that looks like markup, with all that has a meaning in an address, is a name', async () => {
  const name = '<img src=x onerror=alert(1)>?a=b,#c\\d';
  await create('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  });
  await open('onerror');
  await expect.poll(() => options().first().locator('.palette-label').textContent()).toBe(name);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name, exact: true }).waitFor();
  await page.reload();
  await ready(page);
  await page.getByRole('heading', { name, exact: true }).waitFor();
  expect(await page.locator('img').count()).toBe(0);
  expect(alarms).toEqual([]);
});

test('nothing is watched for it while it is closed', async () => {
  await page.evaluate(() => {
    location.hash = '#settings';
  });
  // The settings name service accounts, and discovery follows definitions; the rest ends when it is not seen.
  await expect.poll(watches).toBeLessThan(6);
  await open('x');
  await expect.poll(watches).toBeGreaterThan(40);
  await page.keyboard.press('Escape');
  await expect.poll(watches).toBeLessThan(6);
});
