import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { controlled, launch, ready } from './browser';
import { openSite, type Site } from './site';

// Nothing that a visitor types ends the cluster. Each line is typed into the terminal beside a probe that asks the API server
// all the time: it answers while the line runs, Ctrl-C ends the line, and the shell and the cluster are as they were.

/** Lines that do not end by themselves, or take what there is not: those that the shell's own tests play natively. */
const ENDLESS = readFileSync(
  join(import.meta.dirname, '../../../core/shell/lines/endless.txt'),
  'utf8',
)
  .split('\n')
  .filter((line) => line.startsWith('$ '))
  .map((line) => line.slice(2));

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
  await page.evaluate(() => {
    const probe = { answers: 0, failures: [] as string[], took: [] as number[] };
    Object.assign(window, { probe });
    const look = async () => {
      const begin = performance.now();
      try {
        const response = await fetch('/readyz', { cache: 'no-store' });
        if (!response.ok) probe.failures.push(`${response.status} ${await response.text()}`);
        probe.answers++;
        probe.took.push(performance.now() - begin);
      } catch (error) {
        probe.failures.push(String(error));
      }
      setTimeout(look, 100);
    };
    void look();
  });
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
  const took = (await probe()).took.toSorted((a, b) => a - b).map(Math.round);
  const at = (share: number) => took[Math.floor(took.length * share)];
  console.log(
    `/readyz beside ${LINES.length} lines: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${took.at(-1)} ms`,
  );
  await browser?.close();
  await site?.close();
});

interface Probe {
  readonly answers: number;
  readonly failures: readonly string[];
  /** Milliseconds for each answer. */
  readonly took: readonly number[];
}
const probe = () => page.evaluate(() => (window as unknown as { probe: Probe }).probe);

async function type(keys: string): Promise<void> {
  await page.locator('.terminal textarea').focus();
  await page.keyboard.type(keys);
}

/** The rows of the terminal that hold something. */
const rows = async () =>
  // biome-ignore lint/performance/useDomNodeTextContent: the text of the DOM does not tell where a row ends
  (await page.locator('.terminal .xterm-rows').innerText())
    .split('\n')
    .map((row) => row.trimEnd())
    .filter((row) => row !== '');

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
