import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lessonCluster } from '../../src/client/cluster-names';
import { english } from '../../src/page/lessons/words';
import { chinese } from '../../src/page/lessons/words.zh';
import { entered, ready } from './browser';
import { Camera, type Size } from './camera';
import { faultsOfChinese } from './foreign';
import { done, FIRST, lesson, looking, prompt, type Step, type } from './learner';
import { Gate } from './site';
import { newBrowser } from './visitors';

// What lessons look like: their drawings, and each kind of step.

const gate = new Gate();
const here = newBrowser(gate);

async function newPage(): Promise<Page> {
  const viewport = { width: 1440, height: 900 };
  const context = await here.browser.newContext({
    colorScheme: 'light',
    reducedMotion: 'reduce',
    viewport,
  });
  return context.newPage();
}

function newCamera(page: Page, language: 'en' | 'zh', sizes: readonly Size[]): Camera {
  const prefix = `lesson-${language}-`;
  // The states are the same in both languages, and so are the colours of the dark theme.
  return language === 'zh'
    ? new Camera(page, { prefix, themes: ['light'], sizes, look: faultsOfChinese })
    : new Camera(page, { prefix, themes: ['light', 'dark'], sizes });
}

/** Brings what a selector names first into sight, whichever element it is when the page has been laid out for its size. */
async function bring(page: Page, selector: string): Promise<void> {
  await page.waitForFunction((named) => {
    const element = document.querySelector(named);
    element?.scrollIntoView({ block: 'nearest' });
    const { top, bottom } = element?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
    return bottom > 0 && top < innerHeight && top < bottom;
  }, selector);
}

/**
 * Goes to a step, and waits until the page is that of the lesson's cluster: the one before shows the text, too, until it is left.
 */
async function goTo(page: Page, language: 'en' | 'zh', id: string, step: string): Promise<void> {
  const { steps } = lesson(id, language);
  const number = steps.findIndex((one) => one.id === step) + 1;
  await page.goto(`${here.url}?lang=${language}#/lesson/${id}/${number}`);
  const [part = '', name = ''] = id.split('/');
  await entered(page, lessonCluster(part, name));
  const title = steps[number - 1]?.title ?? '';
  await page.getByRole('heading', { name: title, exact: true }).waitFor();
}

// A text is shown before there is an engine, and needs none.
describe.each(['en', 'zh'] as const)('pictures: %s', (language) => {
  let page: Page;
  beforeAll(async () => {
    gate.close();
    page = await newPage();
  });
  afterAll(async () => {
    await page?.context().close();
    gate.open();
  });

  test.each([
    ['read/watch', 'kubectl', 'watch'],
    ['life/finalizers', 'free', 'bad'],
    ['apply/ownership', 'share', 'owner-1'],
  ])('%s shows what it is about in the colours of the theme', async (id, step, ink) => {
    await goTo(page, language, id, step);
    const svg = '.lesson-text svg[role=img]';
    const drawing = page.locator(svg);
    await bring(page, svg);
    // Nothing of it is left out.
    const shown = lesson(id, language).steps.find((one) => one.id === step);
    const drawn = shown?.blocks.find(({ html }) => html?.includes('<svg'));
    const source = drawn?.html ?? '';
    const html = await drawing.evaluate((element) => element.outerHTML);
    for (const tag of ['g', 'path', 'rect', 'circle', 'text']) {
      const count = (of: string) => of.split(`<${tag} `).length + of.split(`<${tag}>`).length;
      expect(count(html), tag).toBe(count(source));
    }
    const inks: string[] = [];
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      const [is, should] = await drawing.evaluate((element, name) => {
        const probe = document.createElement('i');
        probe.style.color = `var(--${name})`;
        element.after(probe);
        const colours = [element.querySelector(`.ink-${name}`), probe].map((each) =>
          each ? getComputedStyle(each).color : '',
        );
        probe.remove();
        return colours;
      }, ink);
      expect(is).toBe(should);
      inks.push(is ?? '');
    }
    expect(new Set(inks).size).toBe(2);
    const camera = newCamera(page, language, ['wide', 'phone']);
    await camera.take(`picture-${id.replace('/', '-')}`, () => bring(page, svg));
  });

  test.each([
    ['settings of its engine', 'versions/stability', 'off', '.step-engine'],
    ['a table', 'versions/removed', 'gone', '.lesson-table'],
    ['answers', 'versions/removed', 'gone', '.answer'],
    ['a script', 'controller/mirror', 'watch', '.code-block'],
    ['a challenge', 'write/create', 'challenge', '.checks'],
  ])('a step with %s', async (what, id, name, part) => {
    await goTo(page, language, id, name);
    await bring(page, part);
    const camera = newCamera(page, language, ['wide', 'phone']);
    await camera.take(what.replaceAll(' ', '-'), () => bring(page, part));
  });
});

describe.each([
  ['en', english],
  ['zh', chinese],
] as const)('how it looks: %s', (language, words) => {
  test('the offer, the map, and a lesson from its first step on', async () => {
    const page = await newPage();
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const camera = newCamera(page, language, ['wide', 'middle', 'phone']);
    const text = lesson('first/request', language);
    const step = (n: number) => text.steps[n] as Step;
    await page.goto(`${here.url}?lang=${language}`);
    await page.locator('.offer').waitFor();
    await ready(page);
    await camera.take('offer');
    await page.goto(`${here.url}?lang=${language}#lessons`);
    await page.locator('.map-part').first().waitFor();
    await camera.take('map');
    await page.goto(`${here.url}?lang=${language}${FIRST}/1`);
    await looking(page);
    await camera.take('fresh');
    await prompt(page);
    await type(page, 'kubectl get namespace default');
    await page.locator('.hint').waitFor();
    await camera.take('hint');
    await type(page, 'kubectl get namespaces');
    await done(page, step(0).checks[0]?.title ?? '').waitFor();
    await page.locator('.exchange-line').first().click();
    await page.locator('.exchange-both pre').first().waitFor();
    await camera.take('exchange');
    await button(words.next).click();
    await button(words.next).click();
    await page.getByRole('radio').nth(1).check();
    await camera.take('guess');
    await page.getByText(words.solution.summary).click();
    await button(words.solution.first).click();
    await camera.take('solution');
    await button(words.solution.play).click();
    for (const { title } of step(2).checks) await done(page, title).waitFor();
    await camera.take('done');

    const verbs = lesson('first/verbs', language);
    const at = verbs.steps.findIndex(({ id }) => id === 'several');
    const never = verbs.steps[at]?.checks.find(({ id }) => id === 'others')?.title ?? '';
    await page.goto(`${here.url}?lang=${language}#/lesson/first/verbs/${at + 1}`);
    await page.getByRole('heading', { name: verbs.steps[at]?.title ?? '', exact: true }).waitFor();
    await looking(page);
    await prompt(page);
    await type(page, 'kubectl delete secret b1');
    const failed = page.locator('.check.is-failed', { hasText: never });
    await failed.getByText(words.checks.failed, { exact: true }).waitFor();
    await failed.scrollIntoViewIfNeeded();
    await camera.take('failed', () => failed.scrollIntoViewIfNeeded());
    await page.context().close();
  });
});
