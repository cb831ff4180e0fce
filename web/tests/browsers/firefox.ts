import { launch, type Page } from 'puppeteer-core';
import type { Browser, Tab } from './browser';

/** Firefox, by WebDriver BiDi. */
export async function firefox(profile: string): Promise<Browser> {
  const browser = await launch({
    browser: 'firefox',
    executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
    userDataDir: profile,
    headless: true,
  });
  return {
    open: async (url) => {
      const opened = tab(await browser.newPage());
      await opened.open(url);
      return opened;
    },
    close: () => browser.close(),
  };
}

function tab(page: Page): Tab {
  return {
    open: async (url) => {
      await page.goto(url, { waitUntil: 'domcontentloaded' });
    },
    close: () => page.close(),
    run: (script) => page.evaluate(`(async () => { ${script} })()`) as Promise<never>,
    type: async (keys) => {
      await page.bringToFront();
      await page.focus('.terminal textarea');
      for (const line of keys.split(/(\n)/)) {
        if (line === '\n') await page.keyboard.press('Enter');
        else await page.keyboard.type(line);
      }
    },
  };
}
