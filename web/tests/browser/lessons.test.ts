import type { BrowserContext, Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { english as files } from '../../src/page/files/words';
import { english } from '../../src/page/lessons/words';
import { chinese } from '../../src/page/lessons/words.zh';
import { english as frame } from '../../src/page/words';
import { ready, restarts } from './browser';
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
  await restarts(page, () => page.evaluate(() => window.kubetab.restart(undefined, 'kept')));
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
  await restarts(page, () => button(english.bar.reset).click());
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
