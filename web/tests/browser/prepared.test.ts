import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openPage, ready } from './browser';
import { picture } from './camera';
import { newVisitors } from './visitors';

// A cluster that has something in it, from an address or instead of an empty one. core/prepared_test.go tells what is in
// each of them and how it behaves.

const visitor = newVisitors();

const list = async (page: Page, path: string): Promise<string[]> =>
  page.evaluate(async (where) => {
    const answer = await window.kubetab.direct?.request(where);
    const body = (await answer?.json()) as { items?: { metadata: { name: string } }[] };
    return (body.items ?? []).map(({ metadata }) => metadata.name);
  }, path);

test('an address brings a prepared cluster, beside those that there are', async () => {
  const page = await visitor.context.newPage();
  await page.goto(`${visitor.url}?cluster=broken#cluster`);
  await page.getByText('A broken cluster has been applied').waitFor();
  const name = page.locator('.cluster-name');
  expect(await name.textContent()).toBe('A broken cluster');
  expect(new URL(page.url()).search).toBe('');
  expect(await list(page, '/apis/apps/v1/namespaces/trouble/deployments')).toEqual([
    'blog',
    'gallery',
    'guestbook',
    'model',
    'worker',
  ]);
  await page.evaluate(() => {
    location.hash = '#cluster/api/v1/namespaces/trouble/pods';
  });
  await page.getByText('ImagePullBackOff').first().waitFor();
  await page.getByText('CrashLoopBackOff').first().waitFor();
  await picture(page, 'broken');

  await page.goto(`${visitor.url}?cluster=custom#cluster`);
  await page.getByText('Custom resources has been applied').waitFor();
  expect(await list(page, '/api/v1/namespaces')).not.toContain('trouble');
  expect(await list(page, '/apis/harbour.example.com/v1/ferries')).toEqual([
    'albatross',
    'petrel',
    'puffin',
  ]);

  // Another visit to the first one: it is as it was left.
  await page.goto(`${visitor.url}?cluster=broken#cluster`);
  await name.getByText('A broken cluster').waitFor();
  expect(await list(page, '/api/v1/namespaces')).toContain('trouble');
  // One's own has nothing of them.
  await page.goto(`${visitor.url}?cluster=own#cluster`);
  await name.getByText('Your cluster').waitFor();
  expect(await list(page, '/api/v1/namespaces')).not.toContain('trouble');
  await page.goto(`${visitor.url}?cluster=custom#cluster`);

  // Who is given a link to what is seen now begins with the same.
  await name.getByText('Custom resources').waitFor();
  await page.getByRole('button', { name: 'Share' }).click();
  expect(await page.getByRole('textbox', { name: 'Link to this view' }).inputValue()).toBe(
    `${visitor.url}?cluster=custom#cluster`,
  );
  await page.keyboard.press('Escape');

  await page.goto(`${visitor.url}?cluster=nope#cluster`);
  await page.getByText('There is no cluster “nope” in this browser.').waitFor();
});

test('what tells that it is applied covers nothing, and goes when one goes on working', async () => {
  const page = await visitor.context.newPage();
  const notice = page.locator('.notice');
  const lastRow = () =>
    page.evaluate(() => {
      const screen = document.querySelector('.terminal .xterm-screen')?.getBoundingClientRect();
      if (!screen?.width) return 'no terminal';
      // Its last row, from its left end to its right one.
      const hits = [0.02, 0.5, 0.98].map((at) =>
        document.elementFromPoint(screen.left + screen.width * at, screen.bottom - 4),
      );
      return hits.map((hit) => (hit?.closest('.terminal') ? 'terminal' : hit?.className)).join();
    });
  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.goto(`${visitor.url}?cluster=${width > 720 ? 'shop' : 'custom'}#terminal`);
    await notice.getByText('has been applied').waitFor();
    expect(await lastRow()).toBe('terminal,terminal,terminal');
    await picture(page, `prepared-told-${width}`);
    // A key at once leaves it: it is still being read.
    await page.locator('.terminal textarea').focus();
    const goesOn = async () => {
      await page.keyboard.press('a');
      return notice.count();
    };
    expect(await goesOn()).toBe(1);
    await expect.poll(goesOn).toBe(0);
  }
});

test('what the engine refuses of a prepared cluster is said', async () => {
  const page = await openPage(visitor.context, visitor.url);
  await page.locator('summary', { hasText: 'API versions' }).click();
  await page.getByRole('checkbox', { name: 'autoscaling/v2' }).uncheck();
  await page.getByRole('radio', { name: 'A web shop' }).check();
  await page.getByRole('button', { name: 'Restart the engine' }).click();
  await page.getByText(/1 of \d+ objects could not be applied/).waitFor();
  await ready(page);
  await page.getByText(/HorizontalPodAutoscaler storefront: /).waitFor();
  expect(await list(page, '/apis/apps/v1/namespaces/shop/deployments')).toEqual([
    'orders',
    'storefront',
  ]);
  await page.getByText('Could not be applied:').scrollIntoViewIfNeeded();
  await picture(page, 'prepared-refused');
});
