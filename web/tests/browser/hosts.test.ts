import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, createNamespace } from './acts';
import { controlled, filesOf, keepForOffline, launch, ready } from './browser';
import type { Site } from './site';

// The layouts for hosts that can do nothing: they send files as they are, in folders, without headers of ours.

const FOLDERS = ['/user/some%20page/', '/user/another/'] as const;
const layout = (name: 'plain' | 'pages') =>
  resolve(import.meta.dirname, '../../../build/site', name);

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

/** The types that every host knows; wasm is not among them. */
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.gz': 'application/gzip',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/**
 * A host with a copy of the page in each of the folders.
 *
 * @param says that what is compressed has a content coding, as some hosts do: browsers unpack it then
 */
async function host(site: string, says: boolean): Promise<Site> {
  if (!existsSync(join(site, 'index.html'))) {
    throw new Error(`${site} is missing. Run \`make site TARGET="plain pages"\` first.`);
  }
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    const folder = FOLDERS.find((each) => pathname.startsWith(each));
    const below = folder ? pathname.slice(folder.length) : '..';
    const file = join(site, normalize(decodeURIComponent(below) || 'index.html'));
    if (!file.startsWith(site) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream');
    if (says && file.endsWith('.gz')) response.setHeader('Content-Encoding', 'gzip');
    response.end(readFileSync(file));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${FOLDERS[0]}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

const statusOf = (page: Page, path: string) => ask(page, 'GET', path);

/** Runs a line in the terminal on an empty screen, and waits until what is there matches. */
async function run(page: Page, line: string, sees: RegExp): Promise<void> {
  const screen = page.locator('.terminal .xterm-rows');
  await page.locator('.terminal textarea').focus();
  await page.keyboard.type(`clear; ${line}\n`);
  // biome-ignore lint/performance/useDomNodeTextContent: the text of the DOM does not tell where a row ends
  await expect.poll(() => screen.innerText()).toMatch(sees);
}

test('a host that compresses nothing and sends no headers is enough, and then none is needed', async () => {
  const site = layout('plain');
  const served = await host(site, false);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(served.url);
  await ready(page);
  await controlled(page);
  expect(await statusOf(page, 'api/v1/namespaces')).toBe(200);
  // The policy of the document holds.
  const violated = await page.evaluate(async () => {
    const told = new Promise<string>((resolve) => {
      addEventListener('securitypolicyviolation', (event) => resolve(event.violatedDirective));
    });
    await fetch('http://127.0.0.1:9/').catch(() => undefined);
    return told;
  });
  expect(violated).toBe('connect-src');

  // Another copy of the same build is another page, with a cluster of its own.
  const other = await context.newPage();
  await other.goto(new URL(FOLDERS[1], served.url).href);
  await ready(other);
  await controlled(other);
  expect(await createNamespace(other, 'of-the-other')).toBe(201);
  expect(await statusOf(other, 'api/v1/namespaces/of-the-other')).toBe(200);
  expect(await statusOf(page, 'api/v1/namespaces/of-the-other')).toBe(404);
  await other.close();

  await keepForOffline(page);
  const kept = () =>
    page.evaluate(async () => {
      const names = (await caches.keys()).filter((name) => name.endsWith('kubetab-module'));
      const found = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
      return found.flat().length;
    });
  const { module } = JSON.parse(readFileSync(join(site, 'manifest.json'), 'utf8'));
  await expect.poll(kept).toBe(filesOf(module));

  await served.close();
  await page.reload();
  await ready(page);
  await run(page, 'kubectl create deployment web --image=nginx', /deployment.apps\/web created/);
  await run(page, 'kubectl rollout status deployment web && kubectl get pods', /web-\S+ +1\/1/);
  await run(page, 'kubectl explain pod | head -n 2', /KIND: +Pod/);
  await context.close();
}, 900_000);

test('so is one that has browsers unpack the files, and the engine starts from nothing there', async () => {
  const served = await host(layout('pages'), true);
  const context = await browser.newContext();
  const page = await context.newPage();
  // Other settings than the snapshot's need what is seldom called.
  await page.goto(`${served.url}?nodes=1`);
  await page.waitForFunction(() => {
    const { state } = window.kubetab;
    return state?.phase === 'ready' && state.stages.some(({ name }) => name === 'rest');
  });
  await context.close();
  await served.close();
});
