import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { controlled, launch, ready } from './browser';
import { beginProbe, ENDLESS, probeOf, rowsOf, summary, typeInto } from './probe';
import { openSite, type Site } from './site';

// Nothing that a visitor types ends the cluster. Each line is typed into the terminal beside a probe that asks the API server
// all the time: it answers while the line runs, Ctrl-C ends the line, and the shell and the cluster are as they were.

/** One of nine; all of them take a quarter of an hour (make test-endless). */
const LINES = process.env.KUBETAB_EVERY_LINE
  ? ENDLESS
  : ENDLESS.filter((_, i) => i % Math.ceil(ENDLESS.length / 12) === 0);

let browser: Browser;
let site: Site;
let page: Page;

beforeAll(async () => {
  [browser, site] = await Promise.all([launch(), openSite()]);
  page = await browser.newPage();
  await page.goto(site.url);
  await ready(page);
  await controlled(page);
  await page.locator('.terminal textarea').waitFor();
  await beginProbe(page);
  const made = await page.evaluate(async () => {
    const response = await fetch('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"metadata":{"name":"kept"},"data":{"all":"along"}}',
    });
    return response.status;
  });
  expect(made).toBe(201);
});
afterAll(async () => {
  console.log(`beside ${LINES.length} lines, ${summary(await probe())}`);
  await browser?.close();
  await site?.close();
});

const probe = () => probeOf(page);
const type = (keys: string) => typeInto(page, keys);
const rows = () => rowsOf(page);

let turn = 0;
/** The shell answers, and what the cluster held is there. */
async function isAlive(): Promise<void> {
  const word = `alive-${++turn}`;
  await type(`clear; echo ${word.replace('-', '-""')}\n`);
  await expect.poll(rows, { timeout: 60_000 }).toContain(word);
  const kept = await page.evaluate(async () =>
    (await fetch('/api/v1/namespaces/default/configmaps/kept')).json(),
  );
  expect(kept.data).toEqual({ all: 'along' });
  expect((await probe()).failures).toEqual([]);
}

/** Waits until the API server has answered `more` times more. */
async function answers(more: number): Promise<void> {
  const { answers: before } = await probe();
  await expect
    .poll(async () => (await probe()).answers, { timeout: 60_000 })
    .toBeGreaterThanOrEqual(before + more);
}

test.each(LINES)('%s', async (line) => {
  await type(`clear; echo beg""un; ${line}\n`);
  await expect.poll(rows, { timeout: 60_000 }).toContain('begun');
  await answers(5);
  await page.locator('.terminal textarea').focus();
  await page.keyboard.press('Control+c');
  await isAlive();
});
