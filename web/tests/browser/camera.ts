import { resolve } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const pictures = resolve(import.meta.dirname, '../../../build/screens');

/** Takes a picture of what is seen, for people to look at, with KUBETAB_PICTURES=1. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.KUBETAB_PICTURES !== '1') return;
  await page.screenshot({ path: resolve(pictures, `${name}.png`) });
}

const SIZES = { wide: [1440, 900], middle: [1024, 768], phone: [390, 844] } as const;
export type Size = keyof typeof SIZES;
type Theme = 'light' | 'dark';

interface Sight {
  /** What the names of the pictures begin with. */
  readonly prefix?: string;
  /** The page follows the system, which changes from one to the next in each size. */
  readonly themes: readonly [Theme, ...Theme[]];
  readonly sizes: readonly Size[];
  /** What is wrong with what can be seen, in words, beside what is looked at everywhere. */
  readonly look?: (page: Page) => Promise<string[]>;
}

/**
 * Looks each state of a page through in several sizes and themes: axe finds nothing, and nothing sticks out of the window. A
 * theme is colours and nothing else, so in a second theme axe looks at the contrast alone. It also takes the pictures.
 */
export class Camera {
  readonly #page: Page;
  readonly #sight: Sight;

  constructor(page: Page, sight: Sight) {
    this.#page = page;
    this.#sight = sight;
  }

  /**
   * Leaves the page in the wide size and the first theme at the place where it was.
   *
   * @param phone brings a phone to where it shows the state: the name of a tab, or what does it
   */
  async take(name: string, phone?: string | (() => Promise<void>)): Promise<void> {
    const page = this.#page;
    const { prefix = '', themes, sizes, look } = this.#sight;
    const place = new URL(page.url()).hash;
    const found: string[] = [];
    for (const size of sizes) {
      const [width, height] = SIZES[size];
      await page.setViewportSize({ width, height });
      await drawn(page);
      if (size === 'phone' && typeof phone === 'string') {
        await page.locator('.phone-tabs').getByText(phone, { exact: true }).click();
      } else if (size === 'phone' && phone) {
        await (phone as () => Promise<void>)();
      }
      const wrong = (await look?.(page)) ?? [];
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (over > 0) wrong.push(`${over} pixels stick out`);
      for (const theme of themes) {
        await page.emulateMedia({ colorScheme: theme });
        await drawn(page);
        await picture(page, `${prefix}${name}-${theme}-${size}`);
        const rules = theme === themes[0] ? undefined : ['color-contrast'];
        wrong.push(...(await faults(page, rules)).map((each) => `${theme}: ${each}`));
      }
      found.push(...wrong.map((each) => `${size}: ${each}`));
    }
    const [width, height] = SIZES.wide;
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: themes[0] });
    await show(page, place || '#cluster');
    expect(found, name).toEqual([]);
  }
}

/**
 * Waits for two frames: in the first the page hears of another size or theme, in the second what it did about it is there.
 * Before that a terminal has the colours and the height that it had.
 */
async function drawn(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
}

/** Goes to a view by its fragment. */
export async function show(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
}

/**
 * What axe finds wrong, in words, while nothing moves: colours that fade in are none that anybody reads. It does not wait for
 * what moves, because a request that is shown next would move again.
 *
 * @param rules its names of what it looks for; all by default
 */
async function faults(page: Page, rules?: string[]): Promise<string[]> {
  const still = await page.evaluateHandle(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      '*, ::before, ::after { animation: none !important; transition: none !important }',
    );
    document.adoptedStyleSheets.push(sheet);
    return sheet;
  });
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    (only) =>
      window.axe.run(document, { ...(only && { runOnly: only }), resultTypes: ['violations'] }),
    rules,
  );
  await page.evaluate((sheet) => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
  }, still);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}

declare global {
  interface Window {
    readonly axe: typeof axe;
  }
}
