import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { terminalOf } from './acts';
import { saidInSharedWorker } from './browser';
import { plain } from './site';
import { newVisitors } from './visitors';

// What a visitor looks at and clicks in the first hour; wasm/split/hour.test.mjs has what is typed, and all kinds.

const visitor = newVisitors();

const show = (page: Page, hash: string) =>
  page.evaluate((to) => {
    location.hash = to;
  }, hash);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('no view needs the rest of the module', async (t) => {
  // It costs a visitor 11 MB, and a second in which the processors have no time for the API server.
  let missed: (() => void) | undefined;
  const missing = new Promise<void>((resolve) => {
    missed = resolve;
  });
  const site = await plain({
    hasPart: (part) => {
      if (part === 'rest') missed?.();
      return part !== 'rest';
    },
  });
  t.onTestFinished(() => site.close());
  const page = await visitor.context.newPage();
  await page.goto(site.url);
  await terminalOf(page);
  /** Fails as soon as the rest is asked for: whoever asked waits for it in vain. */
  const looksAt = async (what: string, look: () => Promise<void>) => {
    const called = missing.then(async () => {
      const said = await saidInSharedWorker(page);
      const slots = said.filter((line) => line.includes('in slot')).join('\n');
      throw new Error(`${what} called it; go run ./wasm/split -slot names what:\n${slots}`);
    });
    await Promise.race([look(), called]);
  };

  await looksAt('Settings', async () => {
    await show(page, '#settings');
    await page.locator('summary', { hasText: 'Feature gates' }).waitFor();
    await page.getByLabel('Emulated version').selectOption('1.36');
    await page.getByText('Settings have been changed.').waitFor();
  });
  await looksAt('the map of lessons', async () => {
    await show(page, '#lessons');
    await page.getByRole('heading', { level: 1 }).first().waitFor();
  });
  await looksAt('the console', async () => {
    await show(page, '#console');
    await page
      .getByRole('region', { name: 'Response' })
      .getByText('"kube-node-lease"')
      .first()
      .waitFor();
  });
  await looksAt('a file that is applied', async () => {
    await show(page, '#files');
    await button(page, 'Apply').click();
    const outcome = page.getByRole('region', { name: 'What the API server said' });
    await outcome.getByText('Deployment web created').waitFor();
  });
  await looksAt('the picture', async () => {
    await show(page, '#cluster');
    await expect.poll(() => page.locator('.stage .pod-running').count()).toBe(3);
  });
  await looksAt('the page of an object', async () => {
    await show(page, '#cluster/apis/apps/v1/namespaces/default/deployments/web');
    await page.locator('#object-view-yaml').click();
    await page.locator('.yaml-view .cm-content').getByText('managedFields').first().waitFor();
  });
  await looksAt('the requests', async () => {
    await page.keyboard.press('Control+j');
    await page.locator('table.log tbody tr', { hasText: '201' }).first().click();
    const details = page.getByRole('region', { name: 'Request details' });
    for (const tab of ['Request', 'Response', 'Audit']) {
      await details.getByRole('tab', { name: tab }).click();
    }
    await details.getByText('audit.k8s.io/v1').first().waitFor();
    await page.keyboard.press('Control+j');
  });
  await looksAt('the palette', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to or run' }).waitFor();
    await page.keyboard.type('node-1');
    await page
      .getByRole('option', { name: /^node-1/ })
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
  });
  await looksAt('a viewer', async () => {
    await page.getByLabel('Acting as').selectOption('kubetab-view');
    await show(page, '#cluster/api/v1/secrets');
    await page.getByText(/User "kubetab-view" cannot (list|watch) resource "secrets"/).waitFor();
  });
});
