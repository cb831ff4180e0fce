import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ready } from './browser';
import { newBrowser } from './visitors';

// What a first quarter of an hour calls is in the module that a visit waits for. It holds on a machine that has time:
// where answers are late, leases and watches run out meanwhile, and what is done about that is in the rest.

const here = newBrowser();
let page: Page;

beforeAll(async () => {
  page = await (
    await here.browser.newContext({ viewport: { width: 1440, height: 900 } })
  ).newPage();
  await page.goto(here.url);
  await ready(page);
});

const screen = () => page.locator('.terminal .xterm-rows').innerText();

/** Runs a line on an empty screen, and waits until what is there matches. */
async function run(line: string, sees: RegExp): Promise<void> {
  await page.locator('.terminal textarea').focus();
  await page.keyboard.type(`clear; ${line}\n`);
  await expect.poll(screen).toMatch(sees);
}

// What makes changes late (core/delayevents.go) is itself none of what a running engine needs.
test.skipIf(process.env.KUBETAB_TAGS === 'late')(
  'a first visit to the terminal needs nothing of the rest of the module',
  async () => {
    await run('kubectl get namespaces', /kube-system +Active/);
    await run(
      'kubectl create deployment typed --image=nginx && kubectl rollout status deployment/typed',
      /successfully rolled out/,
    );
    await run('kubectl get pods -l app=typed', /typed-\S+ +1\/1 +Running/);
    await run('kubectl exec deploy/typed -- hostname', /^typed-/m);
    await run('kubectl --context kubetab-view delete deployment typed', /Forbidden/);
    await run('kubectl get pods -l app=typed -w', /typed-\S+ +1\/1 +Running/);
    await page.keyboard.press('Control+c');
    await expect.poll(screen).toMatch(/\^C/);
    const stages = await page.evaluate(() => {
      const { state } = window.kubetab;
      return state?.phase === 'ready' ? state.stages.map(({ name }) => name) : [];
    });
    // What comes soon comes by itself, before or after ready.
    expect(stages.filter((name) => name !== 'soon')).toEqual(['compile', 'thaw', 'ready']);
  },
);
