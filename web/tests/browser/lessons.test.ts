import type { BrowserContext, Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { english as files } from '../../src/page/files/words';
import { english } from '../../src/page/lessons/words';
import { chinese } from '../../src/page/lessons/words.zh';
import { english as frame } from '../../src/page/words';
import { ready } from './browser';
import * as learner from './learner';
import { FIRST, lesson, type Step } from './learner';
import { newVisitors } from './visitors';

// Lessons as a learner plays them. What a step asks for is in its solution; what it says, in the language that is shown.

const visitor = newVisitors();
const request = lesson('first/request');
const [run, again, create, challenge] = request.steps as [Step, Step, Step, Step];

let context: BrowserContext;
let page: Page;

beforeEach(async () => {
  context = visitor.context;
  page = await context.newPage();
});

const button = (name: string, of: Page = page) => of.getByRole('button', { name, exact: true });
const heading = (name: string) => page.getByRole('heading', { name, exact: true });
const check = (title: string) => page.locator('.check', { hasText: title });
const done = (title: string) => learner.done(page, title);
const looking = () => learner.looking(page);
const prompt = () => learner.prompt(page);
const type = (line: string) => learner.type(page, line);

test('a newcomer is offered the first lesson, and does it to its end by typing', async () => {
  await page.goto(visitor.url);
  const offer = page.getByRole('region', { name: frame.offer.title });
  await offer.waitFor();
  await offer.getByRole('button', { name: frame.offer.begin }).click();
  await page.waitForURL(new RegExp(`${FIRST}/1$`));
  await heading(run.title).waitFor();
  await looking();
  await prompt();
  for (const { title } of run.checks) await check(title).and(page.locator('.is-open')).waitFor();

  await type('kubectl get namespaces');
  for (const { title } of run.checks) await done(title).waitFor();
  await page.locator('.exchange', { hasText: '/api/v1/namespaces' }).first().waitFor();
  await button(english.next).click();

  await heading(again.title).waitFor();
  expect(await page.evaluate(() => location.hash)).toBe(`${FIRST}/2`);
  for (const line of again.solution) await type(line);
  for (const { title } of again.checks) await done(title).waitFor();
  await button(english.next).click();

  await heading(create.title).waitFor();
  const right = create.predict?.options.findIndex((option) => option.right) ?? -1;
  await page.getByRole('radio').nth(right).check();
  await page.getByText(english.predict.kept).waitFor();
  for (const line of create.solution) await type(line);
  for (const { title } of create.checks) await done(title).waitFor();
  await page.getByText(english.predict.right).waitFor();
  await button(english.next).click();

  await heading(challenge.title).waitFor();
  for (const line of challenge.solution) await type(line);
  for (const { title } of challenge.checks) await done(title).waitFor();
  await page.getByText(english.lessonDone).waitFor();
  await page.locator('.lesson-steps .is-done').nth(3).waitFor();

  await button(english.all).first().click();
  const link = new RegExp(`${request.title}.*${english.map.states.done}`);
  await page.getByRole('link', { name: link }).waitFor();
});

test('the offer can be declined, and is not made again', async () => {
  await page.goto(visitor.url);
  await button(frame.offer.decline).click();
  await page.locator('.offer').waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('navigation', { name: frame.rail.label }).first().waitFor();
  expect(await page.locator('.offer').count()).toBe(0);
});

test('in Chinese, where changing the language keeps the place and what was done', async () => {
  const text = lesson('first/request', 'zh');
  await page.goto(`${visitor.url}?lang=zh${FIRST}/1`);
  await heading(text.steps[0]?.title ?? '').waitFor();
  await looking();
  await button(chinese.block.run).first().click();
  await done(text.steps[0]?.checks[0]?.title ?? '').waitFor();
  await button(chinese.next).click();
  await heading(text.steps[1]?.title ?? '').waitFor();
  await page.getByRole('combobox', { name: '语言' }).selectOption('English');
  await heading(again.title).waitFor();
  expect(await page.evaluate(() => location.hash)).toBe(`${FIRST}/2`);
  await button(english.previous).click();
  await done(run.checks[0]?.title ?? '').waitFor();
});

test('on a phone', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${visitor.url}${FIRST}/1`);
  await looking();
  await button(english.block.run).first().click();
  // The terminal is a screen of its own, and says how far the step is.
  await page.locator('.terminal-screen').waitFor();
  await page.locator('.strip-checks.is-done').waitFor();
  await button(english.strip.back).click();
  await done(run.checks[0]?.title ?? '').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
});

test('a wrong turn brings its hint, which goes when the step is done', async () => {
  await page.goto(`${visitor.url}${FIRST}/1`);
  await looking();
  await prompt();
  await type('kubectl get namespace default');
  const hint = page.locator('.hint', { hasText: run.hints?.[0]?.text ?? '' });
  await hint.waitFor();
  expect(await check(run.checks[0]?.title ?? '').getAttribute('class')).not.toContain('is-done');
  await type('kubectl get namespaces');
  await done(run.checks[0]?.title ?? '').waitFor();
  await hint.waitFor({ state: 'detached' });
});

test('a lesson that was left and reloaded is as it was', async () => {
  await page.goto(`${visitor.url}${FIRST}/1`);
  await looking();
  await button(english.block.run).first().click();
  await done(run.checks[0]?.title ?? '').waitFor();
  await button(english.next).click();
  await heading(again.title).waitFor();
  await page.goto(`${visitor.url}#settings`);
  await button(english.strip.back).waitFor();
  await page.reload();
  await page.goto(`${visitor.url}${FIRST}`);
  // Without a step in the address, it is the one where the learner was.
  await heading(again.title).waitFor();
  expect(await page.evaluate(() => location.hash)).toBe(`${FIRST}/2`);
  await looking();
  await button(english.previous).click();
  await done(run.checks[0]?.title ?? '').waitFor();
});

test('two tabs are in one lesson, and what is done in one is done in both', async () => {
  await page.goto(`${visitor.url}${FIRST}/1`);
  await looking();
  const second = await context.newPage();
  await second.goto(`${visitor.url}${FIRST}/2`);
  await learner.looking(second);
  await button(english.block.run).first().click();
  await done(run.checks[0]?.title ?? '').waitFor();
  await second.locator('.lesson-steps li:first-child .is-done').waitFor();
  await second.getByText(english.solution.summary).click();
  await button(english.solution.play, second).click();
  await learner.done(second, again.checks[0]?.title ?? '').waitFor();
  await page.locator('.lesson-steps li:nth-child(2) .is-done').waitFor();
  // That the second has come has not begun the lesson anew.
  await done(run.checks[0]?.title ?? '').waitFor();
});

test('an engine that starts anew on what was kept knows what had been done', async () => {
  await page.goto(`${visitor.url}${FIRST}/3`);
  await looking();
  await prompt();
  await type('kubectl get namespaces');
  await page.locator('.lesson-steps .is-done').first().waitFor();
  for (const line of create.solution) await type(line);
  for (const { title } of create.checks) await done(title).waitFor();
  await page.evaluate(() => {
    const seen: (string | undefined)[] = [];
    Object.assign(window, { seen });
    setInterval(() => seen.push(window.kubetab.state?.phase), 20);
    window.kubetab.restart(undefined, 'kept');
  });
  await page.waitForFunction(() => {
    const { seen } = window as unknown as { seen: string[] };
    const left = seen.findIndex((phase) => phase !== 'ready');
    return left >= 0 && seen.indexOf('ready', left) >= 0;
  });
  await looking();
  for (const { title } of create.checks) await done(title).waitFor();
  await button(english.previous).click();
  await button(english.previous).click();
  await done(run.checks[0]?.title ?? '').waitFor();
});

test('a lesson begins anew when the learner says so', async () => {
  await page.goto(`${visitor.url}${FIRST}/3`);
  await looking();
  await prompt();
  for (const line of create.solution) await type(line);
  for (const { title } of create.checks) await done(title).waitFor();
  page.once('dialog', (dialog) => void dialog.accept());
  await button(english.bar.reset).click();
  await page.waitForURL(new RegExp(`${FIRST}/1$`));
  await looking();
  await page.goto(`${visitor.url}${FIRST}/3`);
  for (const { title } of create.checks) {
    await check(title).and(page.locator('.is-open')).waitFor();
  }
  const objects = await page.evaluate(async (namespace) => {
    const answer = await window.kubetab.direct?.request(
      `/api/v1/namespaces/${namespace}/configmaps/note`,
    );
    return answer?.status;
  }, request.namespace);
  expect(objects).toBe(404);
});

test('a solution is shown a line at a time, and played', async () => {
  await page.goto(`${visitor.url}${FIRST}/2`);
  await looking();
  await page.getByText(english.solution.summary).click();
  expect(await page.locator('.solution li').count()).toBe(0);
  await button(english.solution.play).click();
  for (const { title } of again.checks) await done(title).waitFor();
  expect(await page.locator('.solution li').count()).toBe(again.solution.length);
});

test('checks turn green in other views, too, and say so', async () => {
  await page.goto(`${visitor.url}${FIRST}/2`);
  await looking();
  await button(english.block.console).click();
  await page.getByRole('button', { name: /Send/ }).click();
  await page.locator('.strip-checks.is-done').waitFor();
  const title = again.checks[0]?.title ?? '';
  await page
    .getByRole('status')
    .filter({ hasText: `Check: ${title}.` })
    .waitFor();
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

test('a file is opened where a step names it, and comes to sight when a command edits it', async () => {
  await page.goto(`${visitor.url}#/lesson/apply/conflicts/3`);
  await looking();
  const editor = page.locator('.editor-place .cm-content');
  await page.locator('.lesson-text').getByRole('button', { name: 'bella.yaml' }).click();
  await editor.filter({ hasText: 'name: bella' }).waitFor();
  await page.getByRole('tab', { name: frame.stage.picture }).click();
  await editor.waitFor({ state: 'detached' });
  await prompt();
  await type('vi bella.yaml');
  await page.getByText(files.edit.title).waitFor();
  await editor.filter({ hasText: 'name: bella' }).waitFor();
});

describe('what is wrong is said, with a way on', () => {
  test('a lesson that does not exist', async () => {
    await page.goto(`${visitor.url}#/lesson/first/nothing/2`);
    await page.getByRole('alert').getByText(english.missing('first/nothing')).waitFor();
    await ready(page);
    // It has begun no cluster.
    expect(await page.evaluate(() => document.documentElement.dataset.cluster)).toBe('own');
    const held = await page.evaluate(async () =>
      JSON.stringify((await navigator.locks.query()).held),
    );
    expect(held).toContain('kubetab-in /');
    expect(held).not.toContain('nothing');
    await page.getByRole('alert').getByRole('button', { name: english.all }).click();
    await heading(english.map.title).waitFor();
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
});

test('a check that cannot be evaluated says so, and the lesson goes on', async () => {
  const fresh = await context.browser()?.newContext({ serviceWorkers: 'block' });
  if (!fresh) throw new Error('The browser is gone.');
  page = await fresh.newPage();
  const title = run.checks[0]?.title ?? '';
  const faulty = structuredClone(request.lesson) as {
    lesson: { steps: { checks: { once: string }[] }[] };
  };
  const broken = faulty.lesson.steps[0]?.checks[0];
  if (broken) broken.once = '10 / (request.status - 200) > 0';
  await page.route('**/lessons/first/request.en.json', (route) =>
    route.fulfill({ json: { ...request, lesson: faulty } }),
  );
  await page.goto(`${visitor.url}${FIRST}/1`);
  await looking();
  await prompt();
  await type('kubectl get namespaces');
  const line = check(title).and(page.locator('.is-open'));
  await line.getByText(english.checks.broken).waitFor();
  await line.locator('code').getByText('division by zero').waitFor();
  await page
    .getByRole('status')
    .filter({ hasText: english.checks.broke(title) })
    .waitFor();
  await button(english.next).click();
  await heading(again.title).waitFor();
  for (const one of again.solution) await type(one);
  for (const each of again.checks) await done(each.title).waitFor();
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
