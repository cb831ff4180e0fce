import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { controlled, launch, ready } from './browser';
import {
  type Asked,
  answersOf,
  beginProbe,
  ENDLESS,
  expectQuick,
  MEASURES,
  now,
  percentiles,
  probeOf,
  promptIn,
  rowsOf,
  summary,
  typeInto,
} from './probe';
import { openSite, type Site } from './site';

// Nothing that a visitor types ends the cluster. Each line is typed into the terminal beside a probe that asks the API server
// all the time: it answers while the line runs, Ctrl-C ends the line, and the shell and the cluster are as they were.

const EVERY_LINE = process.env.KUBETAB_EVERY_LINE === '1';
/** One of nine; all of them take a quarter of an hour (make test-endless). */
const LINES = EVERY_LINE
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
  if (EVERY_LINE) console.log(table());
  console.log(`beside ${beside.size} lines, ${summary([...beside.values()].flat())}`);
  await browser?.close();
  await site?.close();
});

const probe = () => probeOf(page);
const type = (keys: string) => typeInto(page, keys);
const rows = () => rowsOf(page);

let turn = 0;
const alive = () => `alive-${turn}`;
/** The shell answers, and what the cluster held is there. */
async function isAlive(): Promise<void> {
  turn++;
  const word = alive();
  await type(`clear; echo ${word.replace('-', '-""')}\n`);
  await expect.poll(rows).toContain(word);
  const kept = await page.evaluate(async () =>
    (await fetch('/api/v1/namespaces/default/configmaps/kept')).json(),
  );
  expect(kept.data).toEqual({ all: 'along' });
  expect((await probe()).failures).toEqual([]);
}

/** What was asked while each line ran, before Ctrl-C. */
const beside = new Map<string, Asked[]>();

/** The figures of each line in milliseconds, the slowest first. */
function table(): string {
  const rows = [...beside]
    .map(([line, asked]) => ({ line, ...percentiles(asked) }))
    .sort((a, b) => b.max - a.max)
    .map(({ line, answers, p50, p99, max }) =>
      [answers, p50, p99, max]
        .map((n) => `${n}`.padStart(8))
        .join('')
        .concat(`  ${line}`),
    );
  return ['answers', 'p50', 'p99', 'max']
    .map((name) => name.padStart(8))
    .join('')
    .concat('  line, while it ran\n', rows.join('\n'));
}

/** How long after Ctrl-C the prompt may come, in milliseconds, where times are measured (make test-timing). */
const MOST_UNTIL_PROMPT = 1000;

/** Waits until the API server has answered `more` times more. */
async function answers(more: number): Promise<void> {
  const before = await answersOf(page);
  await expect.poll(() => answersOf(page)).toBeGreaterThanOrEqual(before + more);
}

test('the shell answers before it is given such a line', isAlive);

test.each(LINES)('%s', async (line) => {
  await type(`clear; ${line}\n`);
  let from: number;
  let to: number;
  let pressed: number;
  try {
    // What the line prints first may have left the screen when it is looked at.
    await expect.poll(rows).not.toContain(alive());
    from = await now(page);
    await answers(EVERY_LINE || MEASURES ? 30 : 5);
    to = await now(page);
  } finally {
    await page.locator('.terminal textarea').focus();
    pressed = await now(page);
    await page.keyboard.press('Control+c');
  }
  if (MEASURES) {
    expect((await promptIn(page)) - pressed).toBeLessThan(MOST_UNTIL_PROMPT);
  }
  await isAlive();
  const isOpen = async () => (await probe()).open.some((at) => at <= to);
  await expect.poll(isOpen).toBe(false);
  const { asked } = await probe();
  beside.set(
    line,
    asked.filter(({ at }) => at >= from && at <= to),
  );
});

test.runIf(MEASURES)('the API server answered in time all the while', () =>
  expectQuick([...beside.values()].flat()),
);
