import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { unzipSync } from 'fflate';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { DEFAULTS } from '../../src/engine/settings';
import { bundleOf } from '../bundle';
import { entered, launch, ready } from './browser';
import { openSite, plain, type Site } from './site';

// Links to a view and links with files: made in one browser, opened in another. What a link brings comes from anybody.

let site: Site;
let browser: Browser;
const contexts: BrowserContext[] = [];
const complaints: string[] = [];
beforeAll(async () => {
  [site, browser] = await Promise.all([openSite(), launch()]);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
  expect(complaints.splice(0)).toEqual([]);
});

/** A visitor of their own. */
async function visit(address = site.url): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  contexts.push(context);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(address);
  return page;
}

/** The address of a link with these files, made by somebody else's program. */
const linkWith = (files: unknown) =>
  `${site.url}#shared/1/${deflateSync(JSON.stringify(files)).toString('base64url')}`;

/** The visitor's files, as the browser keeps them. */
const kept = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<Record<string, string>>((found) => {
        indexedDB.open('kubetab-workspace').onsuccess = ({ target }) => {
          const { result } = target as IDBOpenDBRequest;
          const all = result.transaction('files').objectStore('files').getAll();
          all.onsuccess = () => {
            const files = all.result as { path: string; text: string }[];
            found(Object.fromEntries(files.map(({ path, text }) => [path, text])));
            result.close();
          };
        };
      }),
  );
const SAMPLES = ['boat.yaml', 'boats.yaml', 'deployment.yaml', 'service.yaml'];
const received = (page: Page) => page.getByRole('dialog', { name: 'Files from a link' });
const run = (page: Page, command: string) =>
  page.evaluate(async (line) => {
    const answer = await window.kubetab.direct?.request('/kubetab/run', {
      method: 'POST',
      body: JSON.stringify({ command: line }),
    });
    if (!answer) throw new Error('There is no way to the engine.');
    return ((await answer.json()) as { stdout: string }).stdout;
  }, command);

/** Makes the cluster larger than a link, by what cannot be made smaller. A new one nearly fills a link. */
const enlarge = (page: Page) =>
  run(
    page,
    `kubectl create configmap large --from-literal=a=${randomBytes(20_000).toString('hex')}`,
  );

test('files travel in a link to another browser, where nothing is taken or applied unasked', async () => {
  const sender = await visit(`${site.url}#files`);
  await ready(sender);
  await sender.locator('.editor-pane .cm-content').click();
  await sender.keyboard.press('Control+Home');
  await sender.keyboard.type('# mine\n');
  await expect.poll(() => run(sender, 'head -1 deployment.yaml')).toBe('# mine\n');
  await run(sender, "mkdir -p notes; echo 'é 文 <b>' > 'notes/ä & 文.yaml'");
  await sender.locator('.file-row', { hasText: 'notes/ä & 文.yaml' }).waitFor();
  await sender.getByRole('button', { name: 'Share' }).click();
  const field = sender.getByRole('textbox', { name: 'Link with files' });
  await expect.poll(() => field.inputValue()).toContain('#shared/1/');
  const ofAll = await field.inputValue();
  await sender.getByRole('checkbox', { name: 'boats.yaml' }).uncheck();
  await expect.poll(async () => (await field.inputValue()) || ofAll).not.toBe(ofAll);
  const link = await field.inputValue();
  await sender.getByText(`${link.length.toLocaleString('en')} characters`).waitFor();
  await sender.locator('.link-field').nth(1).getByRole('button', { name: 'Copy' }).click();
  await sender.locator('.link-field').nth(1).getByRole('button', { name: 'Copied' }).waitFor();
  expect(await sender.evaluate(() => navigator.clipboard.readText())).toBe(link);

  const reader = await visit();
  await ready(reader);
  await expect.poll(async () => Object.keys(await kept(reader))).toEqual(SAMPLES);
  const before = await kept(reader);
  await reader.goto(link);
  const rows = received(reader).locator('.share-files li');
  await expect.poll(() => rows.count()).toBe(4);
  expect(await rows.nth(1).textContent()).toContain('added as deployment-2.yaml');
  expect(await rows.nth(0).textContent()).toContain('You have this file already.');
  await rows.nth(2).locator('summary').click();
  await rows.nth(2).getByText('é 文 <b>', { exact: true }).waitFor();
  expect(await kept(reader)).toEqual(before);

  await received(reader).getByRole('button', { name: 'Add 2 files' }).click();
  await received(reader).waitFor({ state: 'detached' });
  expect(new URL(reader.url()).hash).toBe('#files');
  const theirs = await kept(sender);
  await expect
    .poll(() => kept(reader))
    .toEqual({
      ...before,
      'deployment-2.yaml': theirs['deployment.yaml'],
      'notes/ä & 文.yaml': 'é 文 <b>\n',
    });
  await expect.poll(() => run(reader, 'head -1 deployment-2.yaml')).toBe('# mine\n');
  expect(await run(reader, 'kubectl get deployments -A -o name')).toBe('');
  await reader.reload();
  await ready(reader);
  expect(await received(reader).count()).toBe(0);
});

test('hostile names and texts are shown as they are, and not taken', async () => {
  const markup = '<img src=x onerror=alert(1)>';
  const hostile = ['.bashrc', '../up', '/etc/x', '-rf', 'a/../b', 'inv\u202eoice.yaml', 'a\u0007b'];
  const page = await visit(
    linkWith([...hostile.map((path) => [path, 'alert(1)']), [markup, `${markup}</pre><script>`]]),
  );
  const rows = received(page).locator('.share-files li');
  await expect.poll(() => rows.count()).toBe(hostile.length + 1);
  for (let i = 0; i < hostile.length; i++) {
    expect(await rows.nth(i).textContent()).toContain('It is not added');
    expect(await rows.nth(i).getByRole('checkbox').isDisabled()).toBe(true);
  }
  await rows.filter({ hasText: 'inv\\u{202e}oice.yaml' }).waitFor();
  await rows.last().locator('summary').click();
  await rows.last().getByText(`${markup}</pre><script>`).waitFor();
  expect(await page.locator('img').count()).toBe(0);
  await ready(page);
  await received(page).getByRole('button', { name: 'Add 1 file' }).click();
  await expect.poll(async () => Object.keys(await kept(page))).toEqual([markup, ...SAMPLES]);
  expect(await page.locator('img').count()).toBe(0);
  expect(await run(page, 'ls -a | grep -c bashrc')).toBe('0\n');
});

test('a link that cannot be read says why, is taken out of the address, and loses nothing', async () => {
  const page = await visit();
  await ready(page);
  await expect.poll(async () => Object.keys(await kept(page))).toEqual(SAMPLES);
  await page.locator('.editor-pane .cm-content').click();
  await page.keyboard.type('# being typed');
  const whole = linkWith([['a.yaml', 'kind: Pod\n']]);
  const bomb = deflateSync(`[["a","${' '.repeat(24_000_000)}"]]`).toString('base64url');
  const bad: readonly (readonly [address: string, why: string])[] = [
    [whole.slice(0, -3), 'The link is damaged'],
    [`${site.url}#shared/1/<script>`, 'The link is damaged'],
    [`${site.url}#shared/`, 'The link is damaged'],
    [linkWith({ a: 1 }), 'The link is damaged'],
    [`${site.url}#shared/7/abc`, 'another version of this page'],
    [`${site.url}#shared/1/${bomb}`, 'holds more than the page takes'],
    [linkWith(Array(101).fill(['a', 'b'])), 'holds more than the page takes'],
  ];
  for (const [address, why] of bad) {
    // In the page that is open, as a link in a chat opens it.
    await page.evaluate((to) => location.assign(to), address);
    await page.getByRole('alert').getByText(why).waitFor();
    expect(page.url()).toBe(`${site.url}#cluster`);
    await page.keyboard.press('Escape');
    await received(page).waitFor({ state: 'detached' });
  }
  expect(await page.locator('.editor-pane .cm-content').textContent()).toContain('# being typed');
  expect(Object.keys(await kept(page))).toEqual(SAMPLES);

  // Left, not taken: gone from the address, too.
  await page.evaluate((to) => location.assign(to), whole);
  await received(page).getByRole('button', { name: 'Leave them' }).click();
  await received(page).waitFor({ state: 'detached' });
  expect(page.url()).toBe(`${site.url}#cluster`);
  expect(Object.keys(await kept(page))).toEqual(SAMPLES);
});

test('files that are too much for a link are offered as an archive', async () => {
  const page = await visit(`${site.url}#files`);
  await ready(page);
  await expect.poll(() => run(page, 'ls')).toContain('boat.yaml');
  // What cannot be made smaller.
  await run(page, 'seq 1 20000 > long.txt');
  await page.locator('.file-row', { hasText: 'long.txt' }).waitFor();
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByText(/This link would have [\d,]+ characters/).waitFor();
  expect(await page.getByRole('textbox', { name: 'Link with files' }).count()).toBe(0);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download them as zip' }).click(),
  ]);
  const archive = unzipSync(readFileSync(await download.path()));
  expect(Object.keys(archive).sort()).toEqual([...SAMPLES, 'long.txt'].sort());
  await page.getByRole('checkbox', { name: 'long.txt' }).uncheck();
  await page.getByRole('textbox', { name: 'Link with files' }).waitFor();
});

test('while a dialog is open keys and presses are for it alone', async () => {
  const page = await visit(`${site.url}#console`);
  await ready(page);
  await page.locator('.code-badge').getByText('200 OK').waitFor();
  await page.locator('.side').getByText('Watch ConfigMaps', { exact: true }).click();
  await page.locator('.event').first().waitFor();
  const dialog = page.getByRole('dialog', { name: 'Share' });
  const field = dialog.getByRole('textbox', { name: 'Link to this view' });
  await page.getByRole('button', { name: 'Share' }).click();
  await dialog.getByRole('checkbox', { name: 'boats.yaml' }).uncheck();
  // A text is selected with the pointer, which leaves the dialog on the way.
  const box = await field.boundingBox();
  if (!box) throw new Error('The field has no place.');
  await page.mouse.move(box.x + 20, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(20, box.y + 10);
  await page.mouse.up();
  await page.keyboard.press('Control+Enter');
  expect(await dialog.getByRole('checkbox', { name: 'boats.yaml' }).isChecked()).toBe(false);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  // Neither Escape nor Control Enter was for the console: its watch goes on.
  const sent = page.locator('table.log tbody tr', { hasText: 'configmaps?watch=1' });
  await page.keyboard.press('Control+j');
  await expect.poll(() => sent.count()).toBe(1);
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Share' }).click();
  await page.mouse.click(20, 300);
  await dialog.waitFor({ state: 'detached' });
});

test('a link to a view opens it, in the language of who opens it or of who made it', async () => {
  const page = await visit(`${site.url}#cluster/api/v1/namespaces/kube-public`);
  await ready(page);
  await page.getByRole('button', { name: 'Share' }).click();
  const field = page.getByRole('textbox', { name: 'Link to this view' });
  expect(await field.inputValue()).toBe(`${site.url}#cluster/api/v1/namespaces/kube-public`);
  await page.getByRole('checkbox', { name: /Links open in English/ }).check();
  await expect
    .poll(() => field.inputValue())
    .toBe(`${site.url}?lang=en#cluster/api/v1/namespaces/kube-public`);
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  const focused = () => page.evaluate(() => document.activeElement?.className);
  await expect.poll(focused).toContain('share-button');
});

/** The requests of a page to the store of its host, from now on. */
function askedOfStore(page: Page): readonly string[] {
  const asked: string[] = [];
  page.context().on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (/^\/s(\/|$)/.test(pathname)) asked.push(`${request.method()} ${pathname}`);
  });
  return asked;
}

test('a cluster travels in a link, or by a short one where the host has a store, and is opened as another one', async () => {
  const sender = await visit();
  const askedBySender = askedOfStore(sender);
  await ready(sender);
  await run(sender, 'kubectl create configmap sent --from-literal=by=link');
  await run(
    sender,
    'kubectl create deployment web --image=nginx --replicas=3 && kubectl expose deployment web --port=80',
  );
  await run(sender, 'kubectl rollout status deployment web');
  const dialog = sender.getByRole('dialog', { name: 'Share' });
  const makeLink = async () => {
    await sender.getByRole('button', { name: 'Share' }).click();
    await dialog.getByRole('button', { name: 'Make a link' }).click();
  };
  // What is small needs no store: the part of an address behind # is sent to nobody.
  await makeLink();
  const whole = await dialog.getByRole('textbox', { name: 'Link with this cluster' }).inputValue();
  expect(whole).toMatch(/#shared\/b\/[\w-]+$/);
  expect(askedBySender).toEqual([]);
  await sender.keyboard.press('Escape');

  await enlarge(sender);
  await makeLink();
  await dialog.getByText(/which no link has room for/).waitFor();
  await dialog.getByRole('button', { name: 'Send it to the host, for a short link' }).click();
  const field = dialog.getByRole('textbox', { name: 'Short link' });
  await field.waitFor();
  const link = await field.inputValue();
  expect(link).toMatch(/#shared\/s\/[a-z2-7]{24}$/);

  expect(askedBySender).not.toEqual([]);

  const reader = await visit(whole);
  const askedByReader = askedOfStore(reader);
  await ready(reader);
  const offer = reader.getByRole('dialog', { name: 'A cluster from a link' });
  await offer.waitFor();
  const cluster = () => reader.evaluate(() => document.documentElement.dataset.cluster);
  expect(await cluster()).toBe('own');
  expect(await run(reader, 'kubectl get configmap sent -o name')).toBe('');
  const opens = async (name: string) => {
    await offer.getByRole('button', { name: 'Open as a new cluster' }).click();
    await entered(reader, name);
    await ready(reader);
  };
  const hasObject = () =>
    expect
      .poll(() => run(reader, "kubectl get configmap sent -o jsonpath='{.data.by}'"))
      .toBe('link');
  await opens('shared');
  await hasObject();
  // The nodes have started anew, and so do the containers: as they were saved, not ready, and then ready again.
  const containers =
    "kubectl get pods -o jsonpath='{range .items[*]}{.status.containerStatuses[0].ready} {.status.containerStatuses[0].restartCount};{end}'";
  await expect.poll(() => run(reader, containers)).toBe('true 1;'.repeat(3));
  expect(askedByReader).toEqual([]);
  await reader.evaluate((to) => location.assign(to), link);
  await opens('shared-2');
  expect(new URL(reader.url()).hash).toBe('#cluster');
  await hasObject();
  await reader.getByText('The cluster is as it was saved').waitFor();
  await reader.locator('.cluster-button').click();
  await reader.locator('.cluster-face').filter({ hasText: 'Your cluster' }).waitFor();
  await reader.keyboard.press('Escape');

  // A link that holds a cluster itself: of another version, which has stored what this one cannot read.
  await reader.evaluate((to) => location.assign(to), `${site.url}#shared/b/${older()}`);
  await opens('older');
  expect(await run(reader, "kubectl get crd -o jsonpath='{.items[*].metadata.uid}'")).toBe(UID);
  const told =
    'Kubernetes v1.36.0+kubetab saved this cluster. UIDs and times are what they were; resource versions are new. This build cannot read 1 object, which the cluster is without.';
  await reader.getByText(told).waitFor();
  await reader.getByRole('button', { name: 'Show which' }).click();
  const line = reader.getByText('/registry/configmaps/default/torn: it has no type');
  await line.waitFor();
  const isInSight = () =>
    line.evaluate((element) => element.getBoundingClientRect().top < innerHeight);
  await expect.poll(isInSight).toBe(true);
  // It is told once.
  expect(await reader.evaluate(() => sessionStorage.getItem('kubetab.opened /'))).toBe(null);
});

const UID = '11111111-2222-4333-8444-555555555555';

/** A bundle with a definition that each version reads, and a record that none does, in base64url. */
function older(): string {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: 'boats.sea.example',
      uid: UID,
      creationTimestamp: '2026-01-02T03:04:05Z',
    },
    spec: {
      group: 'sea.example',
      scope: 'Namespaced',
      names: { plural: 'boats', singular: 'boat', kind: 'Boat', listKind: 'BoatList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  };
  const record = (key: string, value: string) => ({
    key: `/registry/${key}`,
    create: 5,
    mod: 7,
    version: 2,
    lease: 0,
    value: Buffer.from(value),
  });
  const cluster = {
    kubernetes: 'v1.36.0+kubetab',
    build: 'of another time',
    time: '2026-01-02T03:04:05Z',
    name: 'Older',
    revision: 9,
    settings: DEFAULTS,
    records: [
      record(
        'apiextensions.k8s.io/customresourcedefinitions/boats.sea.example',
        JSON.stringify(definition),
      ),
      record('configmaps/default/torn', 'k8s\0'),
    ],
  };
  return bundleOf(cluster).toString('base64url');
}

test('files that no link has room for travel by a short link, and a link to nothing says so', async () => {
  const sender = await visit(`${site.url}#files`);
  await ready(sender);
  await expect.poll(() => run(sender, 'ls')).toContain('boat.yaml');
  await run(sender, 'seq 1 20000 > long.txt');
  // A link that was made of half of it is none any more when the other half is there.
  await expect.poll(async () => (await kept(sender))['long.txt']).toMatch(/\n20000\n$/);
  await sender.getByRole('button', { name: 'Share' }).click();
  await sender.getByRole('button', { name: 'Send it to the host, for a short link' }).click();
  const field = sender.getByRole('textbox', { name: 'Short link' });
  await field.waitFor();
  const link = await field.inputValue();

  const reader = await visit(link);
  await ready(reader);
  await received(reader).getByText('long.txt').waitFor();
  expect(Object.keys(await kept(reader))).not.toContain('long.txt');
  await received(reader).getByRole('button', { name: 'Add 1 file' }).click();
  await expect.poll(async () => Object.keys(await kept(reader))).toContain('long.txt');

  await reader.evaluate((to) => location.assign(to), `${site.url}#shared/s/${'a'.repeat(24)}`);
  await reader.getByRole('alert').getByText('no longer has what this link leads to').waitFor();
});

test('a host without a store offers no short link, and its console has no errors', async () => {
  const without = await plain();
  try {
    const page = await visit(without.url);
    const errors: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    await ready(page);
    await enlarge(page);
    await page.getByRole('button', { name: 'Share' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share' });
    const asked = page.waitForResponse((answer) => answer.request().method() === 'HEAD');
    await dialog.getByRole('button', { name: 'Make a link' }).click();
    await dialog.getByText(/which no link has room for/).waitFor();
    await asked;
    expect(await dialog.getByRole('button', { name: /short link/ }).count()).toBe(0);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Save as a file' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.kubetab$/);
    expect(errors).toEqual([]);
  } finally {
    await without.close();
  }
});
