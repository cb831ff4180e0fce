import type { BrowserContext } from 'playwright-core';
import { expect, test } from 'vitest';
import { openPage, ready } from './browser';
import { newVisitors } from './visitors';

// The page as an app of the system, and what the browser may delete of it.

const here = newVisitors();

/** Calls of navigator.storage.persist, which Chromium decides about by itself. */
async function countAsking(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const counts = { asked: 0 };
    Object.assign(window, { counts });
    StorageManager.prototype.persisted = async () => counts.asked > 0;
    StorageManager.prototype.persist = async () => {
      counts.asked++;
      return true;
    };
  });
}

test('the page can be installed', async () => {
  const page = await openPage(here.context, here.url);
  const session = await here.context.newCDPSession(page);
  const { url, data, errors } = await session.send('Page.getAppManifest');
  expect(errors).toEqual([]);
  expect(url).toBe(`${here.url}manifest.webmanifest`);
  // A private window never installs anything; nothing else is in the way.
  const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
  expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(['in-incognito']);
  const { icons } = JSON.parse(data ?? '{}') as {
    icons: { src: string; sizes: string; purpose?: string }[];
  };
  // What a system may cut to a shape of its own.
  const maskable = icons.filter(({ purpose }) => purpose === 'maskable');
  expect(maskable.map(({ sizes }) => sizes)).toEqual(['any', '192x192', '512x512']);
  const sizes = await page.evaluate(
    (list) =>
      Promise.all(
        list.map(async ({ src }) => {
          const image = new Image();
          image.src = src;
          await image.decode();
          return image.naturalWidth;
        }),
      ),
    icons,
  );
  for (const [i, { sizes: told }] of icons.entries()) {
    if (told !== 'any') expect(`${sizes[i]}x${sizes[i]}`).toBe(told);
  }
});

test('the browser is asked to keep a cluster with the first own write, and tells when it has not', async () => {
  await countAsking(here.context);
  const page = await openPage(here.context, here.url);
  const asked = () =>
    page.evaluate(() => (window as unknown as { counts: { asked: number } }).counts.asked);
  const mark = () => page.evaluate(() => localStorage.getItem('kubetab.kept'));
  const write = (path: string, object: object) =>
    page.evaluate(
      async ([url, body]) => {
        const headers = { 'Content-Type': 'application/json' };
        return (await fetch(url, { method: 'POST', headers, body })).status;
      },
      [path, JSON.stringify(object)] as const,
    );
  // A question and a rehearsal change nothing.
  const review = 'apis/authentication.k8s.io/v1/selfsubjectreviews';
  expect(await write(review, { kind: 'SelfSubjectReview' })).toBe(201);
  const own = { metadata: { name: 'mine' } };
  expect(await write('api/v1/namespaces/default/configmaps?dryRun=All', own)).toBe(201);
  expect([await asked(), await mark()]).toEqual([0, null]);
  expect(await write('api/v1/namespaces/default/configmaps', own)).toBe(201);
  await expect.poll(asked).toBe(1);
  await expect.poll(mark).not.toBeNull();

  // The engine that has kept it is still there: nothing is missing.
  const gone = page.getByText('The browser has deleted what it kept of this cluster');
  await page.reload();
  await ready(page);
  expect(
    await page.evaluate(
      async () => (await fetch('api/v1/namespaces/default/configmaps/mine')).status,
    ),
  ).toBe(200);
  // What would tell of it listens by then.
  expect(await write('api/v1/namespaces/default/configmaps', { metadata: { name: 'more' } })).toBe(
    201,
  );
  await expect.poll(asked).toBe(1);
  expect(await gone.count()).toBe(0);

  // In another browser the mark alone is left.
  const other = await here.browser.newContext();
  await other.addInitScript(() => {
    if (!sessionStorage.getItem('seen')) localStorage.setItem('kubetab.kept', 'earlier');
    sessionStorage.setItem('seen', '1');
  });
  const evicted = await openPage(other, here.url);
  await evicted.getByText('The browser has deleted what it kept of this cluster').waitFor();
  await evicted.reload();
  await ready(evicted);
  expect(await evicted.evaluate(() => localStorage.getItem('kubetab.kept'))).toBeNull();
  await other.close();
});
