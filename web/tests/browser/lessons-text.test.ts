import type { BrowserContext, Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { english } from '../../src/page/lessons/words';
import { english as frame } from '../../src/page/words';
import { FIRST, lesson, type Step } from './learner';
import { Gate } from './site';
import { newVisitors } from './visitors';

// What a visitor reads before there is an engine, and without one: none starts here.

const gate = new Gate();
gate.close();
const visitor = newVisitors(gate);
const request = lesson('first/request');
const [run, again] = request.steps as [Step, Step];

let context: BrowserContext;
let page: Page;

beforeEach(async () => {
  context = visitor.context;
  page = await context.newPage();
});

const button = (name: string, of: Page = page) => of.getByRole('button', { name, exact: true });
const heading = (name: string) => page.getByRole('heading', { name, exact: true });

test('the offer can be declined, and is not made again', async () => {
  await page.goto(visitor.url);
  await button(frame.offer.decline).click();
  await page.locator('.offer').waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('navigation', { name: frame.rail.label }).first().waitFor();
  expect(await page.locator('.offer').count()).toBe(0);
});

test('a table shows the rows with all of the words in its filter', async () => {
  await page.goto(`${visitor.url}#/lesson/versions/removed/1`);
  const table = page.locator('.lesson-table');
  const filter = table.getByRole('searchbox', { name: english.table.filter });
  const rows = table.locator('tbody tr');
  await rows.first().waitFor();
  const all = await rows.count();
  expect(all).toBeGreaterThan(20);
  await table.getByText(english.table.count(all, all), { exact: true }).waitFor();
  await filter.fill('INGRESS');
  await table.getByText(english.table.count(2, all), { exact: true }).waitFor();
  const kinds = await rows.locator('td:first-child').allTextContents();
  expect(kinds).toEqual(['Ingress', 'IngressClass']);
  await filter.fill('pathtype ingress');
  await table.getByText(english.table.count(1, all), { exact: true }).waitFor();
  await filter.fill('nothing of the kind');
  await table.getByText(english.table.count(0, all), { exact: true }).waitFor();
  await filter.fill('');
  await table.getByText(english.table.count(all, all), { exact: true }).waitFor();
  expect(await rows.count()).toBe(all);
});

test('a step that does not exist', async () => {
  await page.goto(`${visitor.url}${FIRST}/77`);
  await page.getByText(english.wrongStep(77)).waitFor();
  await heading(run.title).waitFor();
});

test('kept progress that is torn, hostile, or of a lesson that is gone', async () => {
  await context.addInitScript(() => {
    if (sessionStorage.getItem('once')) return;
    sessionStorage.setItem('once', '1');
    localStorage.setItem('kubetab.lesson.first/request', '{"begun":true,"step":"ag');
    localStorage.setItem('kubetab.lesson.<img src=x onerror=alert(1)>', '[]');
    localStorage.setItem(
      'kubetab.lesson.gone/away',
      JSON.stringify({
        begun: true,
        step: '',
        checks: [],
        done: [],
        steps: 1,
        guesses: {},
        shown: {},
        at: 1,
      }),
    );
  });
  await page.goto(`${visitor.url}#lessons`);
  await page.getByText(english.map.unreadable('first/request')).waitFor();
  await page.getByText(english.map.unreadable('<img src=x onerror=alert(1)>')).waitFor();
  await page.getByText(english.map.vanished('gone/away')).waitFor();
  const notes = page.locator('.lesson-note');
  while ((await notes.count()) > 0) {
    const before = await notes.count();
    await notes.first().getByRole('button', { name: english.map.forget }).click();
    await expect.poll(() => notes.count()).toBe(before - 1);
  }
  await page.reload();
  await heading(english.map.title).waitFor();
  await page.getByRole('link', { name: request.title }).first().waitFor();
  expect(await notes.count()).toBe(0);
});

test('a text that cannot be loaded', async () => {
  // What a service worker asks for passes the routes of the page by.
  const fresh = await context.browser()?.newContext({ serviceWorkers: 'block' });
  if (!fresh) throw new Error('The browser is gone.');
  const other = await fresh.newPage();
  await other.route('**/lessons/first/*.json', (route) => route.abort());
  await other.goto(`${visitor.url}${FIRST}/1`);
  await other.getByRole('alert').getByText(english.failed).waitFor();
  await other.unroute('**/lessons/first/*.json');
  await button(english.again, other).click();
  await other.getByRole('heading', { name: run.title }).waitFor();
  await fresh.close();
});

test('what does not belong into a text is left out of it', async () => {
  const fresh = await context.browser()?.newContext({ serviceWorkers: 'block' });
  if (!fresh) throw new Error('The browser is gone.');
  const other = await fresh.newPage();
  const html = `<p id="x" class="dialog" onclick="top.hit=1">kept <em>words</em></p>
    <script>top.hit = 1</script><style>body { display: none }</style><iframe src="/"></iframe>
    <img src="x" onerror="top.hit=1"><img src="https://example.com/a.svg"><svg viewBox="0 0 9 9" onload="top.hit=1" class="dialog" style="position: fixed">
    <script>top.hit = 1</script><a href="javascript:top.hit=1"><text>four</text></a><image href="/a.svg"/><use href="#a"/>
    <foreignObject><b>five</b></foreignObject><path d="M0 0" class="ink-get" fill="url(/a.svg)" stroke="none"/></svg>
    <a href="javascript:top.hit=1">one</a><a href="https://kubernetes.io/">two</a><a href="#lessons">three</a>
    <form action="/"><input name="a"><button>four</button></form>`;
  const steps = request.steps.map((step) => ({ ...step, blocks: [{ html }] }));
  await other.route('**/lessons/first/request.en.json', (route) =>
    route.fulfill({ json: { ...request, steps } }),
  );
  await other.goto(`${visitor.url}${FIRST}/2`);
  const prose = other.locator('.lesson-text .prose');
  await prose.getByText('kept').waitFor();
  const found = await prose.evaluate((element) => ({
    html: element.innerHTML,
    hit: 'hit' in window,
  }));
  expect(found.hit).toBe(false);
  expect(found.html.replaceAll(/\s+/g, ' ').trim()).toBe(
    '<p>kept <em>words</em></p> <svg viewBox="0 0 9 9"> <path d="M0 0" class="ink-get" stroke="none"></path></svg> one<a href="https://kubernetes.io/" target="_blank" rel="noopener noreferrer">two</a>' +
      '<a href="#lessons">three</a> four',
  );
  await fresh.close();
});

test('a step has the focus as soon as it is shown, and takes it from nobody later', async () => {
  await page.goto(`${visitor.url}${FIRST}/1`);
  await heading(run.title).waitFor();
  const focused = await page.evaluateHandle(() => {
    const title = document.querySelector('.step-title') as Element;
    const changes = { childList: true, characterData: true, subtree: true };
    const seen = new Promise<boolean>((resolve) => {
      new MutationObserver(() => resolve(document.activeElement === title)).observe(title, changes);
    });
    return { seen };
  });
  await button(english.next).click();
  await heading(again.title).waitFor();
  expect(await focused.evaluate(({ seen }) => seen)).toBe(true);
});

test('the palette goes to lessons by their names in either language, and to steps', async () => {
  const find = async (typed: string, name: string) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: frame.palette.open }).fill(typed);
    await page.getByRole('option', { name, selected: true }).waitFor();
    await page.keyboard.press('Enter');
  };
  await page.goto(`${visitor.url}#settings`);
  await find(lesson('first/request', 'zh').title, request.title);
  await heading(run.title).waitFor();
  await find(english.palette.next, english.palette.next);
  await heading(again.title).waitFor();
  await heading(again.title).focus();
  await page.keyboard.press('ArrowLeft');
  await heading(run.title).waitFor();
});
