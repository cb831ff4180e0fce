import type { BrowserContext, Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { english } from '../../src/page/lessons/words';
import { english as frame } from '../../src/page/words';
import { entered, ready } from './browser';
import * as learner from './learner';
import { FIRST, lesson, type Step } from './learner';
import { newVisitors } from './visitors';

// What a lesson, or one of its steps, asks of its engine: settings that it starts with, and its clock.

const visitor = newVisitors();
const request = lesson('first/request');
const [run] = request.steps as [Step];

let context: BrowserContext;
let page: Page;

beforeEach(async () => {
  context = visitor.context;
  page = await context.newPage();
});

const button = (name: string, of: Page = page) => of.getByRole('button', { name, exact: true });
const heading = (name: string) => page.getByRole('heading', { name, exact: true });
const done = (title: string) => learner.done(page, title);
const looking = () => learner.looking(page);
const type = (line: string) => learner.type(page, line);

test('what a lesson asks of its engine and its clock is set by itself, and said', async () => {
  const fresh = await context.browser()?.newContext({ serviceWorkers: 'block' });
  if (!fresh) throw new Error('The browser is gone.');
  page = await fresh.newPage();
  const betas = ['networking.k8s.io/v1beta1', 'resource.k8s.io/v1beta1', 'storage.k8s.io/v1beta1'];
  const engine = {
    emulatedVersion: '1.36',
    runtimeConfig: Object.fromEntries(betas.map((name) => [name, 'true'])),
  };
  const flags = `--emulated-version=1.36 --runtime-config=${betas.map((name) => `${name}=true`).join()}`;
  const [first, ...others] = request.steps;
  const rule = `self.all(one, ${'one.name == "a" || '.repeat(9)}false)`;
  const cel = { language: 'cel', text: rule };
  const steps = [{ ...first, blocks: [...(first?.blocks ?? []), cel] }, ...others];
  let begin: () => void = () => undefined;
  const begins = new Promise<void>((resolve) => {
    begin = resolve;
  });
  await page.route('**/lessons/first/request.en.json', async (route) => {
    await begins;
    await route.fulfill({ json: { ...request, steps, engine, clock: { paused: true } } });
  });
  await page.goto(`${visitor.url}${FIRST}/1`);
  // What is typed before the lesson has begun is for its namespace, however long the engine has been ready.
  await ready(page);
  await type("kubectl config view --minify -o jsonpath='in {..namespace}.'");
  await page.evaluate(async () => {
    for (let i = 0; i < 50; i++) await window.kubetab.direct?.request('/readyz');
  });
  begin();
  const screen = page.locator('.terminal .xterm-rows');
  await expect.poll(() => screen.textContent()).toContain(`in ${request.namespace}.`);
  await page.getByText(english.sets.engine(flags)).waitFor();
  // However long a flag or a line is, the pane is as wide as it was.
  const over = await page
    .locator('.lesson-body, .lesson-text pre')
    .evaluateAll((all) => all.map((one) => one.scrollWidth - one.clientWidth));
  expect(new Set(over)).toEqual(new Set([0]));
  await page.getByText(english.sets.paused).waitFor();
  await looking();
  await button(frame.clock.state(frame.clock.paused)).waitFor();
  const settings = () =>
    page.evaluate(() => {
      const { state } = window.kubetab;
      return state?.phase === 'ready' ? state.run.settings.emulatedVersion : null;
    });
  expect(await settings()).toBe('1.36');
  // The visitor's own cluster has the settings that it had.
  await button(english.bar.leave).click();
  await entered(page, 'own');
  await ready(page);
  expect(await settings()).toBeUndefined();
  await fresh.close();
});

// Three engines start one after another, the second without the snapshot.
test('an engine that steps restart with other settings goes on with the lesson', async () => {
  const { steps } = lesson('versions/stability');
  const [keeper, off, on] = steps.slice(2) as [Step, Step, Step];
  const flag = '--runtime-config=batch/v1=false';
  const box = page.getByRole('region', { name: english.engine.label });
  const restart = button(english.engine.restart);
  const seen = (title: string) => done(title).locator('.check-seen').textContent();

  // As soon as it can be clicked: what the lesson begins with does not undo it.
  await page.goto(`${visitor.url}#/lesson/versions/stability/4`);
  await heading(off.title).waitFor();
  expect(await box.locator('pre').textContent()).toBe(flag);
  await restart.click();
  await box.getByText(english.engine.runs).waitFor();
  await looking();
  await page.getByText(english.sets.now(flag)).waitFor();
  expect(await restart.count()).toBe(0);
  // The picture draws Jobs, too, and says what it cannot have.
  const refusal = page.locator('.picture .refusal');
  await refusal.getByText(/^\/apis\/batch\/v1\/\S*jobs: 404 page not found$/).waitFor();
  await button(english.block.run).click();
  const gone = off.checks[0]?.title ?? '';
  await done(gone).waitFor();
  const said = await seen(gone);
  expect(said).toContain('404');

  // To play a solution restarts the engine, too.
  await button(english.next).click();
  await heading(on.title).waitFor();
  expect(await box.locator('pre').textContent()).toBe(english.engine.usual);
  await page.getByText(english.solution.summary).click();
  await button(english.solution.play).click();
  await box.getByText(english.engine.runs).waitFor();
  await page.getByText(english.sets.now(flag)).waitFor({ state: 'detached' });
  await button(english.previous).click();
  await done(gone).waitFor();
  expect(await seen(gone)).toBe(said);
  // The Job has outlived two engines, and one that does not serve it.
  await button(english.previous).click();
  const read = keeper.checks[0]?.title ?? '';
  await done(read).waitFor();
  expect(await seen(read)).toMatch(/^uid [0-9a-f-]{36}$/);
}, 900_000);

test('a step says why an engine does not start with its settings', async () => {
  const fresh = await context.browser()?.newContext({ serviceWorkers: 'block' });
  if (!fresh) throw new Error('The browser is gone.');
  page = await fresh.newPage();
  const [first, ...others] = request.steps;
  const engine = { featureGates: { ImageVolume: false } };
  await page.route('**/lessons/first/request.en.json', (route) =>
    route.fulfill({ json: { ...request, steps: [{ ...first, engine }, ...others] } }),
  );
  await page.goto(`${visitor.url}${FIRST}/1`);
  await looking();
  await button(english.engine.restart).click();
  const alert = page.getByRole('alert').filter({ hasText: english.engine.refused });
  await alert.getByText('ImageVolume').waitFor();
  // Nothing was restarted: the lesson goes on.
  await button(english.block.run).first().click();
  await done(run.checks[0]?.title ?? '').waitFor();
  await fresh.close();
});
