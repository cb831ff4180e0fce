import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chinese } from '../../src/page/lessons/words.zh';
import { filesOf, launch, openPage, ready, stopServiceWorkers } from './browser';
import { lesson, looking } from './learner';
import { Gate, plain, type Site } from './site';

// What wasm/split has cut off the module: it is kept with a first visit, and who cannot have it fails alone.

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
});

async function visit(
  site: Site,
  before?: () => void,
): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext();
  if (before) await context.addInitScript(before);
  return { context, page: await openPage(context, site.url) };
}

const get = (page: Page, path: string) =>
  page.evaluate(async (url) => {
    const answer = await fetch(url);
    return { status: answer.status, text: (await answer.text()).slice(0, 400) };
  }, path);

const moduleOf = (page: Page): Promise<object> =>
  page.evaluate(async () => (await (await fetch('manifest.json')).json()).module);
const isCut = async (page: Page) => 'rest' in (await moduleOf(page));

async function type(page: Page, line: string): Promise<void> {
  await page.locator('.terminal textarea').focus();
  await page.keyboard.type(`${line}\n`);
}

// biome-ignore lint/performance/useDomNodeTextContent: the text of the DOM does not tell where a row ends
const screen = (page: Page) => page.locator('.terminal .xterm-rows').innerText();

test('a first visit is enough to ask for anything without a network', async () => {
  const site = await plain({ compressed: true });
  const { context, page } = await visit(site, () => {
    window.keepsModule = true; // which the page asks for by itself
  });
  const files = filesOf(await moduleOf(page));
  const kept = () =>
    page.evaluate(async () => (await (await caches.open('kubetab-module')).keys()).length);
  await expect.poll(kept, { interval: 200 }).toBe(files);
  const { url, bytes } = (await moduleOf(page)) as { url: string; bytes: number };
  await site.close();
  // What an engine asks for that stands still, and cannot look for itself.
  const size = await page.evaluate(
    async (address) => (await (await fetch(address)).arrayBuffer()).byteLength,
    `${url}?kept`,
  );
  expect(size).toBe(bytes);
  const answer = await get(page, 'openapi/v2');
  expect(answer).toMatchObject({ status: 200 });
  expect(answer.text).toContain('"swagger"');
  expect(await get(page, 'readyz')).toEqual({ status: 200, text: 'ok' });
  await page.goto(`${site.url}#terminal`);
  await type(page, 'kubectl explain pod.spec.containers');
  await expect.poll(() => screen(page)).toMatch(/workingDir +<string>/);

  // A lesson that nobody has opened, in the language that is not shown.
  const text = lesson('first/verbs', 'zh');
  const [step] = text.steps;
  await page.goto(`${site.url}?lang=zh#/lesson/first/verbs/1`);
  await page.getByRole('heading', { name: step?.title ?? '', exact: true }).waitFor();
  await looking(page);
  await page.getByRole('button', { name: chinese.block.run, exact: true }).first().click();
  await page.locator('.check.is-done').first().waitFor();
  await context.close();
});

test('a first visit keeps files of the page when the engine is ready, and the document of its own build only', async () => {
  const gate = new Gate();
  let added = '';
  let asked = 0;
  const site = await plain({
    gate,
    document: (text) => {
      asked++;
      return text.replace('</head>', `${added}</head>`);
    },
  });
  const context = await browser.newContext();
  const page = await context.newPage();
  const kept = () =>
    page.evaluate(async () => {
      const [name] = (await caches.keys()).filter((each) => each.startsWith('kubetab-page-'));
      if (name === undefined) return { files: 0, document: null };
      const cache = await caches.open(name);
      const document = (await (await cache.match('/'))?.text()) ?? null;
      return { files: (await cache.keys()).length, document };
    });
  gate.close();
  await page.goto(site.url);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  expect(await kept()).toEqual({ files: 0, document: null });

  // The host gets another build while the engine comes.
  added = '<link rel="icon" href="./assets/of-another-build.svg" />';
  gate.open();
  await ready(page);
  await expect.poll(() => asked).toBe(2);
  added = '';
  await page.reload();
  await ready(page);
  await expect.poll(async () => (await kept()).document).toContain('./early.js');
  const { files, document } = await kept();
  expect(document).not.toContain('of-another-build');
  expect(files).toBeGreaterThan(20);
  await context.close();
  await site.close();
});

test('the browser finds what is kept of the page before the service worker runs', async () => {
  const site = await plain();
  const { context, page } = await visit(site);
  const isKept = () => page.evaluate(async () => (await caches.match('/')) !== undefined);
  await expect.poll(isKept).toBe(true);
  const next = await context.newPage();
  await page.close();
  await stopServiceWorkers(next);
  await next.goto(site.url);
  await ready(next);
  // Chromium tells which way the browser went: https://w3c.github.io/ServiceWorker/#serviceworkerroutersource-section
  const ways = (type: string, names: string) =>
    `[...new Set(performance.getEntriesByType('${type}').filter(({ name }) => ${names}.test(name)).map((entry) => entry.workerFinalSourceType))].join()`;
  expect(await next.evaluate(ways('navigation', '/./'))).toBe('cache');
  expect(await next.evaluate(ways('resource', '/.assets./'))).toBe('cache');
  await context.close();
  await site.close();
});

// /statusz is not in the profile.
test('what cannot be had fails alone, and is there when the network is', async ({ skip }) => {
  let isThere = false;
  const site = await plain({ hasPart: (part) => part === 'soon' || isThere });
  const { context, page } = await visit(site);
  if (!(await isCut(page))) skip();

  await page.goto(`${site.url}#terminal`);
  await type(page, 'kubectl get --raw /statusz');
  const unwrapped = async () => (await screen(page)).replaceAll('\n', '');
  await expect.poll(unwrapped).toMatch(/could not be downloaded/);
  expect(await get(page, 'readyz')).toEqual({ status: 200, text: 'ok' });
  await type(page, 'kubectl get namespaces default --no-headers; echo code $?');
  await expect.poll(() => screen(page)).toMatch(/default +Active[\s\S]*code 0/);

  isThere = true;
  const again = async () => {
    await type(page, 'clear');
    await expect.poll(() => screen(page)).not.toMatch(/code/);
    await type(page, 'kubectl get --raw /statusz; echo code $?');
    await expect.poll(() => screen(page)).toMatch(/code \d/);
    return screen(page);
  };
  await expect.poll(again).toMatch(/code 0/);
  await context.close();
  await site.close();
});

test('a form of another site does not reach the API', async () => {
  const site = await plain();
  const { context, page } = await visit(site);
  const other =
    await listen(`<form method="post" enctype="text/plain" action="${site.url}api/v1/namespaces">
    <input name='{"metadata":{"name":"forged"},"x":"' value='"}'></form>
    <script>document.forms[0].submit()</script>`);
  const victim = await context.newPage();
  const [answer] = await Promise.all([
    victim.waitForResponse((response) => response.url().startsWith(site.url)),
    victim.goto(other.url).catch(() => undefined), // the form leads away while this is loading
  ]);
  expect(answer.status()).toBe(403);
  expect(await answer.json()).toMatchObject({ kind: 'Status', reason: 'Forbidden', code: 403 });
  const asked = await page.evaluate(async () => {
    const log = await window.kubetab.direct?.request('/kubetab/requests');
    return (await log?.text())
      ?.split('\n')
      .filter((line) => /"method":"POST".*"path":"\/api\/v1\/namespaces"/.test(line));
  });
  expect(asked).toEqual([]);
  await context.close();
  await Promise.all([other.close(), site.close()]);
});

function listen(html: string): Promise<Site> {
  const server: Server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(html);
  });
  return new Promise((done) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const close = () => new Promise<void>((closed) => server.close(() => closed()));
      done({ url: `http://localhost:${port}/`, close });
    });
  });
}
