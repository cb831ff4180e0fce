import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { PATIENCE } from './browser';
import { chosen, FLAGS_OF_TESTS } from './chromium';
import { plain, type Site } from './site';

const SAMPLES = resolve(import.meta.dirname, '../../../docs/samples');

/**
 * A site of documentation: another one than the site of Kubetab, which is at 127.0.0.1.
 *
 * @param pages HTML and other files by path, such as `/`
 * @param headers sent with each of them
 */
export async function docsSite(
  pages: Readonly<Record<string, string | Uint8Array>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Site> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    const page = pages[pathname];
    if (page === undefined) {
      response.writeHead(404).end();
      return;
    }
    const type = /\.(css|js)$/.exec(pathname)?.[1] ?? 'html';
    response.setHeader(
      'Content-Type',
      `text/${type === 'js' ? 'javascript' : type}; charset=utf-8`,
    );
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.end(page);
  });
  await new Promise<void>((listening) => server.listen(0, 'localhost', listening));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/** A browser whose user has forbidden third parties to store anything. The profile is gone when it is closed. */
export async function withoutThirdParties(): Promise<BrowserContext> {
  const profile = mkdtempSync(join(tmpdir(), 'kubetab-docs-'));
  mkdirSync(join(profile, 'Default'));
  const preferences = { profile: { cookie_controls_mode: 1, block_third_party_cookies: true } };
  writeFileSync(join(profile, 'Default/Preferences'), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chosen(),
    args: [...FLAGS_OF_TESTS],
  });
  context.setDefaultTimeout(PATIENCE);
  // A moment later the browser may still be writing there.
  context.once('close', () => {
    // Chromium may still write there: what is left is the temporary folder's, and no failure of a test.
    rm(profile, { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined);
  });
  return context;
}

/**
 * Looks where the blocks of a page stand in every frame that is drawn.
 *
 * @returns tells all that was seen since: one state of the page, if nothing has moved
 */
export async function watchPlaces(page: Page): Promise<() => Promise<readonly string[]>> {
  const seen = await page.evaluateHandle(() => {
    const states = new Set<string>();
    const look = () => {
      const blocks = [...document.querySelectorAll('h1, p, pre, kubetab-snippet')];
      const tops = blocks.map((block) => block.getBoundingClientRect().top + scrollY);
      states.add(`${document.documentElement.scrollHeight}: ${tops.join(' ')}`);
      requestAnimationFrame(look);
    };
    look();
    return states;
  });
  return () => seen.evaluate((states) => [...states]);
}

/** Somebody who reads documentation with Kubetab in it, for the tests of a file. */
export interface Reader {
  /** Of the site with Kubetab. */
  readonly url: string;
  readonly context: BrowserContext;
  /** Are called when a test is over, the last one first. */
  readonly ends: (() => unknown)[];
  /**
   * Opens a page of a site of documentation. `headers` and `files` are as for `docsSite`.
   *
   * @param before is called with the page while it is empty
   */
  openDocs(
    html: string,
    headers?: Readonly<Record<string, string>>,
    files?: Readonly<Record<string, string | Uint8Array>>,
    before?: (page: Page) => Promise<unknown>,
  ): Promise<Page>;
  /** A file of docs/samples, with the address of this site. */
  sample(name: string): string;
  /** The policy of a page that allows what the samples need, and nothing beside it. */
  strict(): Readonly<Record<string, string>>;
}

/** Opens pages in a browser that lets no third party store anything. */
export function newReader(): Reader {
  let site: Site;
  let context: BrowserContext;
  const ends: (() => unknown)[] = [];
  beforeAll(async () => {
    site = await plain();
    context = await withoutThirdParties();
  });
  afterAll(async () => {
    await context?.close();
    await site?.close();
  });
  afterEach(async () => {
    for (const page of context.pages()) await page.close();
    for (const end of ends.splice(0).reverse()) await end();
  });
  const sample = (name: string) => {
    const text = readFileSync(join(SAMPLES, name), 'utf8');
    return text.replaceAll('https://kubetab.example/', site.url);
  };
  return {
    get url() {
      return site.url;
    },
    get context() {
      return context;
    },
    ends,
    sample,
    async openDocs(html, headers = {}, files = {}, before) {
      const css = ['plain.css', 'vitepress.css'].map((name) => [`/${name}`, sample(name)]);
      const docs = await docsSite({ '/': html, ...Object.fromEntries(css), ...files }, headers);
      ends.push(() => docs.close());
      const page = await context.newPage();
      await before?.(page);
      await page.goto(docs.url);
      return page;
    },
    strict() {
      const { origin } = new URL(site.url);
      return {
        'Content-Security-Policy': `default-src 'none'; style-src 'self'; script-src ${origin}; frame-src ${origin}; require-trusted-types-for 'script'`,
      };
    },
  };
}
