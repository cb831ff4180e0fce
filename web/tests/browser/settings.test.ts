import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { ApiRequestInit } from '../../src/client';
import { connectInVain, inSharedWorker, openPage, ready, restarts } from './browser';
import { picture } from './camera';
import { newVisitors } from './visitors';

// What the engine is started with, from the page and from the address: it takes effect with a restart, objects stay, and
// what does not start leads back.

const visitor = newVisitors();

const json = <T>(page: Page, path: string, init: ApiRequestInit = {}): Promise<T> =>
  page.evaluate(
    async ([where, options]) => {
      const answer = await window.kubetab.direct?.request(where, options);
      return (await answer?.json()) as T;
    },
    [path, init] as const,
  );

const minor = async (page: Page) =>
  (await json<{ emulationMinor: string }>(page, '/version')).emulationMinor;

const run = (page: Page) =>
  page.evaluate(() => {
    const { state } = window.kubetab;
    return state?.phase === 'ready' ? state.run : null;
  });

interface Made {
  readonly metadata: { readonly uid: string; readonly creationTimestamp: string };
}

async function makeMap(page: Page): Promise<Made> {
  return json(page, '/api/v1/namespaces/default/configmaps', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ metadata: { name: 'kept' } }),
  });
}
const readMap = (page: Page) => json<Made>(page, '/api/v1/namespaces/default/configmaps/kept');

/** Clicks the switch of an API version, whether or not its list is open. */
const switchVersion = (page: Page) =>
  page.waitForFunction(() => {
    const labels = [...document.querySelectorAll('.switches label')];
    const label = labels.find((each) => each.textContent?.trim() === 'storage.k8s.io/v1beta1');
    label?.querySelector('input')?.click();
    return label !== undefined;
  });

test('other settings take effect with a restart, and objects stay', async () => {
  const page = await openPage(visitor.context, visitor.url);
  const made = await makeMap(page);
  await page.getByLabel('Emulated version').selectOption('1.36');
  await page.getByRole('spinbutton', { name: 'Nodes' }).fill('3');
  await page.getByRole('spinbutton', { name: 'Nodes' }).blur();
  await page.locator('summary', { hasText: 'Feature gates' }).click();
  await page.getByPlaceholder(/Search \d+ gates/).fill('AllAlpha');
  const locked = page.locator('.switches input[disabled]');
  await page.getByPlaceholder(/Search \d+ gates/).fill('locked-no-such-gate');
  await page.getByText('No gate has such a name.').waitFor();
  await page.getByPlaceholder(/Search \d+ gates/).fill('ga');
  expect(await locked.count()).toBeGreaterThan(0);
  await page.getByPlaceholder(/Search \d+ gates/).fill('');
  await switchVersion(page);
  await page.getByText('Settings have been changed.').scrollIntoViewIfNeeded();
  expect(await minor(page)).toBe('37'); // nothing has happened yet
  await picture(page, 'settings-changed');
  await restarts(page, () => page.getByRole('button', { name: 'Restart the engine' }).click());

  expect(await minor(page)).toBe('36');
  // The third registers once the API is ready.
  const nodes = async () => (await json<{ items: unknown[] }>(page, '/api/v1/nodes')).items.length;
  await expect.poll(nodes).toBe(3);
  expect(await json(page, '/apis/storage.k8s.io/v1beta1')).toMatchObject({
    kind: 'APIResourceList',
  });
  expect((await readMap(page)).metadata.uid).toBe(made.metadata.uid);
  expect(await run(page)).toMatchObject({
    from: 'nothing',
    cluster: 'kept',
    refused: null,
    notKept: null,
  });

  // Another visit finds the same.
  await page.close();
  const again = await openPage(visitor.context, visitor.url);
  expect(await minor(again)).toBe('36');
  expect((await readMap(again)).metadata.uid).toBe(made.metadata.uid);
  await again.getByLabel('Emulated version').selectOption({ index: 0 });
  await again.getByRole('spinbutton', { name: 'Nodes' }).fill('2');
  await again.getByRole('spinbutton', { name: 'Nodes' }).blur();
  await switchVersion(again);
  await restarts(again, () => again.getByRole('button', { name: 'Restart the engine' }).click());
  expect(await run(again)).toMatchObject({ settings: {}, from: 'snapshot', cluster: 'kept' });
  expect((await readMap(again)).metadata.uid).toBe(made.metadata.uid);
});

test('what does not start leads back to what did, with the words of the engine', async () => {
  const page = await openPage(visitor.context, visitor.url);
  const made = await makeMap(page);
  // Upstream takes it for a valid setting, and panics.
  await restarts(page, () =>
    page.evaluate(() => window.kubetab.restart({ runtimeConfig: { v1: 'false' } }, 'kept')),
  );
  expect(await run(page)).toMatchObject({
    settings: {},
    cluster: 'kept',
    refused: {
      settings: { runtimeConfig: { v1: 'false' } },
      why: expect.stringContaining('panic'),
    },
  });
  await page.getByText('The engine did not start with the settings').waitFor();
  expect((await readMap(page)).metadata.uid).toBe(made.metadata.uid);
  await picture(page, 'settings-refused');
});

test('an address brings its settings to who has no cluster, and asks who has one', async () => {
  const page = await visitor.context.newPage();
  await page.goto(`${visitor.url}?emulated-version=1.36&controllers=*,-job-controller#settings`);
  // Other settings than the defaults start without the snapshot.
  await page.waitForFunction(() => {
    const { state } = window.kubetab;
    return state?.phase === 'ready' && state.run.settings.emulatedVersion === '1.36';
  });
  expect((await run(page))?.settings).toEqual({
    emulatedVersion: '1.36',
    controllers: ['*', '-job-controller'],
  });
  await page.goto(`${visitor.url}?nodes=5#settings`);
  const asks = page.locator('.notice', {
    hasText: 'This address asks for another engine: nodes=5',
  });
  await asks.waitFor();
  expect(await minor(page)).toBe('36');
  await restarts(page, () => asks.getByRole('button', { name: 'Restart with it' }).click());
  await expect
    .poll(async () => (await json<{ items: unknown[] }>(page, '/api/v1/nodes')).items)
    .toHaveLength(5); // they register when the engine is ready

  await page.goto(`${visitor.url}?feature-gates=NoSuchGate=true#settings`);
  await page.getByText('unrecognized feature gate: NoSuchGate').waitFor();
  await page.goto(`${visitor.url}?nodes=many#settings`);
  await page.getByText('cannot be read: nodes=many is no number').waitFor();
});

test('an address asks who has a cluster also where its engine is heard of late', async () => {
  const first = await openPage(visitor.context, visitor.url);
  const made = await makeMap(first);
  const second = await visitor.context.newPage();
  await second.addInitScript(connectInVain);
  await second.goto(`${visitor.url}?nodes=5#settings`);
  const asks = second.locator('.notice');
  await asks.waitFor();
  expect(await asks.textContent()).toContain('This address asks for another engine: nodes=5');
  expect((await readMap(second)).metadata.uid).toBe(made.metadata.uid);
});

/** Runs a program on the store of what engines keep, from any page of the site. */
function withKept(page: Page, program: string): Promise<unknown> {
  return page.evaluate(`new Promise((told, failed) => {
    const opening = indexedDB.open('kubetab', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('journal');
    opening.onerror = () => failed(opening.error);
    opening.onsuccess = () => {
      const change = opening.result.transaction('journal', 'readwrite');
      const store = change.objectStore('journal');
      const answer = { of: null };
      change.onabort = () => failed(change.error);
      change.oncomplete = () => {
        opening.result.close();
        told(answer.of);
      };
      ${program}
    };
  })`);
}

/** Makes everything that is kept that of a build of another name. */
const ANOTHER_BUILD = `
  const all = store.openCursor();
  all.onsuccess = () => {
    const at = all.result;
    if (!at) return;
    const [base, name] = at.key;
    if (!base.includes('000000000000')) {
      store.put(at.value, [base.replace(/kubetab\\.[^/]*/, 'kubetab.000000000000.snapshot'), name]);
      at.delete();
    }
    at.continue();
  };`;
const BASES = `
  const all = store.getAllKeys();
  all.onsuccess = () => { answer.of = [...new Set(all.result.map(([base]) => base))]; };`;

test('the cluster of another build is taken over', async () => {
  const first = await openPage(visitor.context, visitor.url);
  const made = await makeMap(first);
  const again = (on: Page) =>
    restarts(on, () => on.evaluate(() => window.kubetab.restart({}, 'kept')));
  await again(first); // which is when all of it has been written
  // On a page of the site that starts no engine, when the one that ran has ended and writes no more.
  await inSharedWorker(first, 'self.close()');
  await first.close();
  const page = await visitor.context.newPage();
  await page.goto(`${visitor.url}manifest.json`);
  const engines = () =>
    page.evaluate(async () => {
      const { held = [] } = await navigator.locks.query();
      return held.filter(({ name }) => name?.startsWith('kubetab-kept-')).length;
    });
  await expect.poll(engines).toBe(0);
  await withKept(page, ANOTHER_BUILD);
  await page.goto(`${visitor.url}#settings`);
  await ready(page);
  await page.getByText('This build has taken it over').waitFor();
  expect(await run(page)).toMatchObject({
    from: 'snapshot',
    cluster: 'kept',
    notKept: null,
    otherBuilds: 0,
    leftOut: [],
  });
  const { uid, creationTimestamp } = made.metadata;
  expect((await readMap(page)).metadata).toMatchObject({ uid, creationTimestamp });
  await expect
    .poll(() => withKept(page, BASES))
    .toEqual([expect.not.stringContaining('000000000000')]);

  // From then on it is this build's.
  await again(page);
  expect(await run(page)).toMatchObject({ cluster: 'kept', otherBuilds: 0, leftOut: null });
  expect((await readMap(page)).metadata.uid).toBe(uid);
});

test('a cluster of another build that cannot be read is left as it is until it is deleted', async () => {
  const page = await visitor.context.newPage();
  // Before the engine looks: on a page of the site that starts none.
  await page.goto(`${visitor.url}manifest.json`);
  await withKept(
    page,
    `store.put(new Uint8Array([1]), ['/kubetab.000000000000.snapshot', 'identity']);`,
  );
  await page.goto(`${visitor.url}#settings`);
  await ready(page);
  await page.getByText('is left as it is; a new cluster runs instead').waitFor();
  expect(await run(page)).toMatchObject({ cluster: 'new', otherBuilds: 1, leftOut: null });
  const made = await makeMap(page);
  await expect.poll(() => withKept(page, BASES)).toHaveLength(2);

  // The new one is kept beside it.
  await restarts(page, () => page.evaluate(() => window.kubetab.restart({}, 'kept')));
  expect((await readMap(page)).metadata.uid).toBe(made.metadata.uid);
  const about = page.getByText('A cluster that another build of this page has made is kept');
  await about.waitFor();
  await picture(page, 'settings-other-build');
  const forget = page.locator('.setting-note').getByRole('button', { name: 'Delete' });
  page.once('dialog', (dialog) => void dialog.dismiss());
  await forget.click();
  await about.waitFor();
  page.once('dialog', (dialog) => void dialog.accept());
  await forget.click();
  await about.waitFor({ state: 'detached' });
  await expect.poll(() => withKept(page, BASES)).toHaveLength(1);
});

test('etcd is stopped from the pill, and started by a command; the page says so', async () => {
  const page = await openPage(visitor.context, visitor.url);
  const other = await openPage(visitor.context, visitor.url);
  const pill = (of: Page, text: string) => of.locator('.pill', { hasText: text }).waitFor();
  const readyz = () =>
    page.evaluate(async () => (await window.kubetab.direct?.request('/readyz', {}))?.status);
  const engine = page.getByRole('region', { name: 'Engine', exact: true });
  await page.locator('.pill').click();
  await engine.getByRole('button', { name: 'Stop etcd' }).click();
  await pill(page, 'etcd is stopped');
  await pill(other, 'etcd is stopped');
  await expect.poll(readyz).toBe(500);
  // What was not read before says what it waits for, and has a button of its own.
  const offered = other.locator('.cluster-content').getByRole('button', { name: 'Start etcd' });
  await other.evaluate(() => {
    location.hash = '#cluster/api/v1/namespaces/kube-system/serviceaccounts/default';
  });
  await offered.waitFor();
  await other.evaluate(() => {
    location.hash = '#cluster/api/v1/namespaces/kube-system/configmaps';
  });
  await offered.waitFor();
  await json(other, '/kubetab/run', {
    method: 'POST',
    body: JSON.stringify({
      command: `curl -sk -X PUT -d '{"stopped":false}' https://kubernetes/kubetab/etcd`,
    }),
  });
  await pill(page, 'ready');
  await engine.getByRole('button', { name: 'Stop etcd' }).waitFor();
  await offered.waitFor({ state: 'detached' });
  await expect.poll(readyz).toBe(200);
  await page.close();
  await other.close();
});

test('the clock is in the header: by keyboard, and as other tabs, commands and scripts leave it', async () => {
  const page = await openPage(visitor.context, visitor.url);
  const other = await openPage(visitor.context, visitor.url);
  const face = (of: Page, text: string) => of.locator('.clock-button', { hasText: text }).waitFor();
  await face(page, '1×');
  await page.locator('.clock-button').focus();
  await page.keyboard.press('Enter');
  const menu = page.getByRole('region', { name: 'Clock of the cluster' });
  await menu.getByRole('button', { name: 'Pause' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await face(page, 'paused');
  await face(other, 'paused');
  const time = await menu.locator('.clock-time b').textContent();
  await menu.getByRole('button', { name: '1 day' }).click();
  await expect.poll(() => menu.locator('.clock-time b').textContent()).not.toBe(time);
  await menu.getByRole('button', { name: 'Go on' }).click();
  await menu.getByRole('combobox', { name: 'Speed' }).selectOption('10 times');
  await face(page, '10×');
  await face(other, '10×');
  await menu.getByRole('combobox', { name: 'Speed' }).focus();
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
  const focused = () => page.evaluate(() => document.activeElement?.className);
  expect(await focused()).toContain('clock-button');
  // As well when its text has been pressed, and nothing has the keyboard.
  await page.keyboard.press('Enter');
  await menu.locator('.clock-time').click();
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
  expect(await focused()).toContain('clock-button');

  // By a script, by a command, and by the palette.
  await json(other, '/kubetab/clock', { method: 'PUT', body: '{"speed":2.5}' });
  await face(page, '2.5×');
  await json(other, '/kubetab/run', {
    method: 'POST',
    body: JSON.stringify({
      command: `curl -k -X PUT -d '{"speed":60}' https://127.0.0.1:6443/kubetab/clock`,
    }),
  });
  await face(page, '60×');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to or run' }).fill('pause the clock');
  await page.getByRole('option', { name: /Pause the clock/ }).waitFor();
  await page.keyboard.press('Enter');
  await face(other, 'paused');
});
