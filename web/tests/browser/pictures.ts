import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { browsers } from './browser';

const to = resolve(import.meta.dirname, '../../../build/failures');
/** More of a page than that hides the failure itself in a log. */
const LINES = 80;

/** What the pages that are open look like: a picture of each, and in the log what a screen reader would say of it. */
export async function takePictures(test: string): Promise<void> {
  mkdirSync(to, { recursive: true });
  const name = test.replaceAll(/[^a-zA-Z0-9]+/g, '-').slice(0, 80);
  const pages = [...browsers].flatMap((browser) =>
    browser.contexts().flatMap((context) => context.pages()),
  );
  for (const [i, page] of pages.entries()) {
    const path = join(to, `${name}-${i}.png`);
    await page.screenshot({ path, timeout: 5000 }).catch(() => undefined);
    const seen = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String);
    const lines = seen.split('\n').slice(0, LINES);
    console.error([`${page.url()} when it failed:`, ...lines].join('\n'));
  }
}
