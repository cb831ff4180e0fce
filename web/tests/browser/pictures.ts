import { appendFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TestContext } from 'vitest';
import { browsers } from './browser';

const to = resolve(import.meta.dirname, '../../../build/failures');
/** More of a page than that hides the failure itself in a log. */
const LINES = 80;

/**
 * What the pages that are open look like: a picture of each, and in the log what a screen reader would say of it. The
 * words are kept as well: `make test` repeats them at its end, where a log that is cut off still has them.
 */
export async function takePictures(task: Readonly<TestContext['task']>): Promise<void> {
  mkdirSync(to, { recursive: true });
  const why = task.result?.errors?.map(({ message }) => message.split('\n', 1).join()) ?? [];
  const name = task.name.replaceAll(/[^a-zA-Z0-9]+/g, '-').slice(0, 80);
  const pages = [...browsers].flatMap((browser) =>
    browser.contexts().flatMap((context) => context.pages()),
  );
  for (const [i, page] of pages.entries()) {
    const path = join(to, `${name}-${i}.png`);
    await page.screenshot({ path, timeout: 5000 }).catch(() => undefined);
    const seen = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String);
    const lines = [`${page.url()} when it failed:`, ...seen.split('\n').slice(0, LINES)];
    console.error(lines.join('\n'));
    appendFileSync(join(to, `${name}.txt`), [task.name, ...why, ...lines, ''].join('\n'));
  }
}
