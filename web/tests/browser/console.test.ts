import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { launch, ready, settlesTo } from './browser';
import { Gate, plain, type Site } from './site';

// What a person does in the console, in the order in which they might.

let browser: Browser;
let site: Site;
let context: BrowserContext;
let page: Page;
const complaints: string[] = [];
/** No engine is ready before the first test has seen the page without one. */
const gate = new Gate();
const stages: string[] = [];

beforeAll(async () => {
  gate.close();
  [browser, site] = await Promise.all([launch(), plain({ gate })]);
  context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // The content security policy complains here too. A refused request (4xx) is not a complaint of the page's.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text());
    }
  });
  await page.exposeFunction('noteStage', (words: string) => stages.push(words));
  await page.addInitScript(() => {
    const note = () => {
      const words = document.querySelector('.where.is-busy')?.textContent;
      if (words) void (window as unknown as { noteStage(w: string): void }).noteStage(words);
    };
    new MutationObserver(note).observe(document, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});
afterEach(() => {
  expect(complaints.splice(0)).toEqual([]);
});

const response = () => page.getByRole('region', { name: 'Response' });
const status = () => response().locator('.code-badge');
const path = () => page.getByRole('combobox', { name: 'Path and query' });
const example = (title: string) => page.locator('.side').getByText(title, { exact: true });
const editorText = () => page.locator('.request-pane .cm-content');

async function sends(expected: string): Promise<void> {
  await page.getByRole('button', { name: 'Send' }).click();
  await status().getByText(expected).waitFor();
}

test('the first visit is usable at once, says in numbers what it does, and ends with the namespaces', async () => {
  await page.goto(`${site.url}#console`);
  await response().getByText('This request runs as soon as the API server is ready.').waitFor();
  expect(await path().inputValue()).toBe('/api/v1/namespaces');
  gate.open();
  await ready(page);
  await status().getByText('200 OK').waitFor();
  await response().getByText('"kube-node-lease"').first().waitFor();
  expect(stages.join('\n')).toMatch(/Downloading the API server - \d+\.\d of \d+\.\d MB/);
  expect(stages.join('\n')).toMatch(/Starting kube-apiserver v1\.37 - \w+/);
});

test('fetch in the page is answered by kube-apiserver', async () => {
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const version = await page.evaluate(async () => (await fetch('/version')).json());
  expect(version).toMatchObject({ gitVersion: expect.stringMatching(/^v1\.37\.2\+kubetab/) });
});

test('a table is shown as a table, with the columns of the server', async () => {
  await example('List as a table').click();
  const table = response().getByRole('table');
  await table.getByRole('cell', { name: 'kube-system' }).waitFor();
  expect(await table.getByRole('columnheader').allInnerTexts()).toEqual(['Name', 'Status', 'Age']);
  await response().getByRole('tab', { name: 'JSON' }).click();
  await response().getByText('"columnDefinitions"').first().waitFor();
});

test('the path completes from what the server knows', async () => {
  await path().fill('/apis/apps/v1/namespaces/default/dep');
  await page.getByRole('option', { name: /^deployments/ }).waitFor();
  await path().press('ArrowDown');
  await path().press('Enter');
  expect(await path().inputValue()).toBe('/apis/apps/v1/namespaces/default/deployments');
  await path().fill('/api/v1/namespaces/kube-s');
  await page.getByRole('option', { name: /^kube-system/ }).waitFor();
  await path().press('Tab');
  expect(await path().inputValue()).toBe('/api/v1/namespaces/kube-system');
  await path().pressSequentially('?dry');
  await path().press('Escape');
  expect(await page.getByRole('listbox').isVisible()).toBe(false);
});

test('a watch shows each event as it happens, counts them, and Escape stops it in the engine', async () => {
  const path = '/api/v1/namespaces/default/configmaps?watch=1';
  await example('Watch ConfigMaps').click();
  const change = (method: string, name: string) =>
    page.evaluate(
      async ([verb, object]) => {
        const maps = '/api/v1/namespaces/default/configmaps';
        const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: object } };
        await fetch(verb === 'POST' ? maps : `${maps}/${object}`, {
          method: verb as string,
          headers: { 'Content-Type': 'application/json' },
          body: verb === 'POST' ? JSON.stringify(body) : null,
        });
      },
      [method, name],
    );
  await response().getByText('watching', { exact: true }).waitFor();
  await settlesTo(page, path, 1);
  const newest = response().locator('.event').first();
  await change('POST', 'seen-one');
  await newest.getByText('seen-one').waitFor();
  expect(await newest.locator('.event-type').textContent()).toBe('ADDED');
  await change('DELETE', 'seen-one');
  await newest.getByText('DELETED').waitFor();
  expect(await response().getByRole('list', { name: 'Events by type' }).textContent()).toMatch(
    /DELETED\s+1/,
  );
  // The list may be longer than the pane: the keyboard scrolls what it can focus.
  const panel = response().getByRole('tabpanel');
  await panel.focus();
  expect(await panel.evaluate((element) => element === document.activeElement)).toBe(true);
  await newest.getByRole('button').click();
  await response().getByText('"resourceVersion"').first().waitFor();
  await page.keyboard.press('Escape');
  await response().getByText('stopped', { exact: true }).waitFor();
  await settlesTo(page, path, 0);
});

test('writing: an example is put before the user, Ctrl Enter sends it from inside the editor', async () => {
  await example('Create a ConfigMap').click();
  await editorText().getByText('"greeting"').waitFor();
  await editorText().click();
  await page.keyboard.press('Control+Enter');
  await status().getByText('201 Created').waitFor();
  await response().getByText('"uid"').first().waitFor();
  for (const [title, answer] of [
    ['Dry run', '201 Created'],
    ['Merge patch', '200 OK'],
    ['JSON patch', '200 OK'],
    ['An unknown field', '400 Bad Request'],
    ['Delete', '200 OK'],
  ] as const) {
    await example(title).click();
    await page.locator('.entry[aria-current="true"]', { hasText: title }).waitFor();
    await sends(answer);
  }
});

test('server-side apply: the conflict names the owner, force resolves it', async () => {
  await example('Apply a Deployment').click();
  await sends('201 Created');
  await example('A conflict').click();
  await sends('409 Conflict');
  await response()
    .getByText(/conflict with \\"alice\\"/)
    .first()
    .waitFor();
  await example('Take it over').click();
  await sends('200 OK');
  await example('Strategic merge').click();
  await sends('200 OK');
});

test('your own kind: the CEL rule refuses, the table has the columns asked for', async () => {
  await example('Define Boat, with a rule').click();
  await sends('201 Created');
  const boats = '/apis/harbour.example.com/v1/namespaces/default/boats';
  await expect.poll(() => page.evaluate(async (of) => (await fetch(of)).ok, boats)).toBe(true);
  await example('Break the rule').click();
  await sends('422 Unprocessable Content');
  await response()
    .getByText(/everybody needs a berth/)
    .first()
    .waitFor();
  await example('Keep the rule').click();
  await sends('201 Created');
  await example('List boats as a table').click();
  await response().getByRole('columnheader', { name: 'Crew' }).waitFor();
  expect(await response().getByRole('columnheader').allInnerTexts()).toEqual([
    'Name',
    'Crew',
    'Berths',
  ]);
});

test('names, labels and messages that look like markup stay text', async () => {
  const hostile = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
  await page.evaluate(async (text) => {
    await fetch('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'hostile', annotations: { note: text } },
        data: { text },
      }),
    });
  }, hostile);
  await example('List namespaces').click();
  await path().fill('/api/v1/namespaces/default/configmaps/hostile');
  await page.keyboard.press('Escape');
  await page.getByLabel('Method').selectOption('GET');
  await sends('200 OK');
  await response().getByText('onerror').first().waitFor();
  // A name is refused by the server, and comes back in the message of its Status.
  await path().fill(`/api/v1/namespaces/${hostile}`);
  await page.keyboard.press('Escape');
  await sends('404 Not Found');
  await path().fill(`/api/v1/namespaces/default/configmaps?watch=1`);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Send' }).click();
  await response().locator('.event').getByText('hostile').click();
  await response().getByText('onerror').first().waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('tab', { name: 'History' }).click();
  await page
    .getByRole('button', { name: /onerror/ })
    .first()
    .waitFor();
  expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
  expect(await page.locator('#page img, #page script').count()).toBe(0);
});

test('history and draft are there after a reload, and the engine was not restarted', async () => {
  const text = 'POST /apis/harbour.example.com/v1/namespaces/default/boats';
  await page.reload();
  await ready(page);
  expect(await path().inputValue()).toBe('/api/v1/namespaces/default/configmaps?watch=1');
  await page.getByRole('tab', { name: 'History' }).click();
  await page.getByRole('button', { name: text }).first().waitFor();
  const boats = await page.evaluate(
    async () => (await fetch('/apis/harbour.example.com/v1/boats')).status,
  );
  expect(boats).toBe(200);
  await page.getByRole('tab', { name: 'Examples' }).click();
});

test('an answer of five megabytes is shown, folded and searchable', async () => {
  await page.evaluate(async () => {
    for (let i = 0; i < 5; i++) {
      const data = Object.fromEntries(
        Array.from({ length: 9000 }, (_, k) => [`key-${k}`, 'x'.repeat(90)]),
      );
      await fetch('/api/v1/namespaces/default/configmaps', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: `big-${i}` },
          data,
        }),
      });
    }
  });
  await path().fill('/api/v1/namespaces/default/configmaps');
  await page.keyboard.press('Escape');
  await sends('200 OK');
  await response()
    .getByText(/^\d\.\d MB$/)
    .waitFor();
  await response().getByText('"ConfigMapList"').waitFor();
  await response().locator('.cm-content').click();
  await page.keyboard.press('Control+f');
  await page.getByPlaceholder('Find').pressSequentially('"big-4"');
  await page.keyboard.press('Enter');
  await response().locator('.cm-searchMatch-selected').waitFor();
});

test('requests a browser refuses are explained', async () => {
  await page
    .getByRole('tab', { name: /^Headers/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Add a header' }).click();
  await page.getByLabel('Header name').last().fill('not a name');
  await page.getByRole('button', { name: 'Send' }).click();
  await response().getByText('The browser refused to send this request.').waitFor();
});

test('the request can be copied as curl', async () => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await example('Merge patch').click();
  await sends('404 Not Found');
  await response().getByRole('button', { name: 'curl' }).click();
  await response().getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain('curl \\\n  -X PATCH');
});
