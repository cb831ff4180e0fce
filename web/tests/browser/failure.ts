import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach } from 'vitest';
import { browsers } from './browser';

// What the pages looked like when a test failed: a picture of each, and what a screen reader would say of it.

const pictures = resolve(import.meta.dirname, '../../../build/failures');
/** More of a page than that hides the failure itself in a log. */
const LINES = 80;

beforeEach(({ onTestFailed, task }) => {
  onTestFailed(async () => {
    mkdirSync(pictures, { recursive: true });
    const name = task.name.replaceAll(/[^a-zA-Z0-9]+/g, '-').slice(0, 80);
    const pages = [...browsers].flatMap((browser) =>
      browser.contexts().flatMap((context) => context.pages()),
    );
    for (const [i, page] of pages.entries()) {
      const path = join(pictures, `${name}-${i}.png`);
      await page.screenshot({ path, timeout: 5000 }).catch(() => undefined);
      const seen = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String);
      const lines = seen.split('\n').slice(0, LINES);
      console.error([`${page.url()} when it failed:`, ...lines].join('\n'));
    }
  });
});
