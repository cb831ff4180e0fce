import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { launch } from './browser';
import { openSite, type Site } from './site';

/** The site for the tests of a file, and for each of them a visitor who has never been there. */
export function newVisitors(): { readonly url: string; readonly context: BrowserContext } {
  let site: Site;
  let browser: Browser;
  let context: BrowserContext;
  beforeAll(async () => {
    [site, browser] = await Promise.all([openSite(), launch()]);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });
  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  });
  afterEach(() => context.close());
  return {
    get url() {
      return site.url;
    },
    get context() {
      return context;
    },
  };
}
