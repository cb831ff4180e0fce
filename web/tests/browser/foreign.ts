import type { Page } from 'playwright-core';
import { chinese } from '../../src/page/language/chinese';

/** What is wrong with a page whose reader has asked for Chinese, in words. */
export async function faultsOfChinese(page: Page): Promise<string[]> {
  return [...(await foreign(page)), ...(await truncated(page))];
}

/** Sentences that are the same in both languages, such as YAML. */
const same = new Set(['curl', 'fetch', 'kubectl', 'Go', 'JavaScript']);
collect(chinese);
function collect(part: unknown): void {
  if (typeof part === 'string') same.add(part);
  else if (typeof part === 'object' && part !== null) Object.values(part).forEach(collect);
}

/**
 * Texts and names for screen readers with words in them of which none is Chinese, outside of what is not ours to say, such
 * as code and names of files.
 */
async function foreign(page: Page): Promise<string[]> {
  const found = await page.evaluate(() => {
    const texts: string[] = [];
    const look = (text: string | null, element: Element) => {
      const words = text?.replace(/[\d.,]+\s?(ms|kB|MB|B|s)\b/g, '') ?? '';
      // What was typed is marked in the palette, which cuts a title into several texts.
      if (/\p{Script=Han}/u.test(element.closest('.palette-start')?.textContent ?? '')) return;
      if (!/[A-Za-z]{2,}/.test(words) || /\p{Script=Han}/u.test(words)) return;
      if (element.closest('[translate="no"], script, style, noscript, code, kbd')) return;
      // The pictures of lessons, which both languages share, have names of the API alone.
      if (element.closest('.lesson-text svg') || /^[\w-]+\.[a-z]+$/.test(words)) return;
      texts.push(`${text?.trim()} <${element.tagName.toLowerCase()} class="${element.className}">`);
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { textContent, parentElement } = walker.currentNode;
      if (parentElement) look(textContent, parentElement);
    }
    for (const name of ['title', 'aria-label', 'placeholder', 'alt']) {
      for (const element of document.querySelectorAll(`[${name}]`)) {
        look(element.getAttribute(name), element);
      }
    }
    return [...new Set(texts)];
  });
  return found.filter((text) => !same.has(text.slice(0, text.lastIndexOf(' <'))));
}

/** Buttons and tabs whose words do not fit into them. Names and titles end with an ellipsis by themselves. */
function truncated(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('button, [role=tab], .pane-title, .rail-word')]
      .filter(({ offsetParent }) => offsetParent !== null)
      .filter(
        (element) => !element.closest('[translate="no"], .strip, .entry, .event, .lesson-title'),
      )
      .filter((element) => !element.querySelector('[translate="no"]'))
      .filter((element) => element.scrollWidth > element.clientWidth + 1)
      .map((element) => `${element.textContent} is cut`),
  );
}
