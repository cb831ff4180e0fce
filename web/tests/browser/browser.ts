import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ARGUMENTS,
  });
}

/** Opens the page and waits until the API is ready. What the page logs as an error is collected in `errors`. */
export async function openPage(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  await ready(page);
  return page;
}

export async function ready(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^ready/ }).waitFor({ timeout: 90_000 });
}

/** Resolves when the page is controlled: from then on plain fetch reaches the API. */
export async function controlled(page: Page): Promise<void> {
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
}
