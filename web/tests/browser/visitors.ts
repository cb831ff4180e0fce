import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { launch } from './browser';
import { takePictures } from './pictures';
import { type Gate, openSite, plain, type Site } from './site';

/**
 * The site, and a browser for the tests of a file.
 *
 * @param gate the module passes it; the site is the file's own then
 */
export function newBrowser(gate?: Gate): { readonly url: string; readonly browser: Browser } {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([gate ? plain({ gate }) : openSite(), launch()]);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });
  return {
    get url() {
      return site.url;
    },
    get browser() {
      return browser;
    },
  };
}

/**
 * The site for the tests of a file, and for each of them a visitor who has never been there.
 *
 * @param gate the module passes it; the site is the file's own then
 */
export function newVisitors(gate?: Gate): {
  readonly url: string;
  readonly browser: Browser;
  readonly context: BrowserContext;
} {
  const here = newBrowser(gate);
  let context: BrowserContext;
  beforeEach(async () => {
    context = await here.browser.newContext({ viewport: { width: 1440, height: 900 } });
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await takePictures(task);
    await context.close();
  });
  return {
    get url() {
      return here.url;
    },
    get browser() {
      return here.browser;
    },
    get context() {
      return context;
    },
  };
}
