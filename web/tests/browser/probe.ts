import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

// What is played beside an API server that is asked all the time.

/** Lines that do not end by themselves, or take what there is not: those that the shell's own tests play natively. */
export const ENDLESS = readFileSync(
  join(import.meta.dirname, '../../../core/shell/lines/endless.txt'),
  'utf8',
)
  .split('\n')
  .filter((line) => line.startsWith('$ '))
  .map((line) => line.slice(2));

/** What /readyz has answered. */
export interface Probe {
  readonly failures: readonly string[];
  readonly asked: readonly Asked[];
  /** When the questions were asked that have no answer yet. */
  readonly open: readonly number[];
}

/** One question that was answered; its times are the page's, in milliseconds. */
export interface Asked {
  readonly at: number;
  readonly took: number;
}

/**
 * Has a page ask for /readyz every 100 ms, whether or not there are answers, as long as the page is there. A probe that waited
 * for the last answer would ask seldom while it is slow, and think it quick.
 */
export async function beginProbe(page: Page): Promise<void> {
  await page.evaluate(async () => {
    // On a first visit /readyz waits for the second part of the module, however long that is on its way.
    await (await fetch('/readyz', { cache: 'no-store' })).text();
    const probe = { failures: [] as string[], asked: [] as Asked[], open: [] as number[] };
    Object.assign(window, { probe });
    const ask = async () => {
      if (probe.open.length === 50) return; // five seconds of silence are told by those that are open
      const at = performance.now();
      probe.open.push(at);
      try {
        const response = await fetch('/readyz', { cache: 'no-store' });
        const text = await response.text();
        if (!response.ok) probe.failures.push(`${response.status} ${text}`);
        probe.asked.push({ at, took: performance.now() - at });
      } catch (error) {
        probe.failures.push(String(error));
      }
      probe.open.splice(probe.open.indexOf(at), 1);
    };
    setInterval(() => void ask(), 100);
  });
}

export const probeOf = (page: Page) =>
  page.evaluate(() => (window as unknown as { probe: Probe }).probe);

/** How many answers there are: less to bring than all of them. */
export const answersOf = (page: Page) =>
  page.evaluate(() => (window as unknown as { probe: Probe }).probe.asked.length);

/** The clock of a page, which `Asked.at` goes by. */
export const now = (page: Page) => page.evaluate(() => performance.now());

/** How long answers took, in whole milliseconds. */
export function percentiles(asked: readonly Asked[]) {
  const sorted = asked.map(({ took }) => Math.round(took)).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { answers: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}

/** The times in a sentence. */
export function summary(asked: readonly Asked[]): string {
  const { answers, p50, p99, max } = percentiles(asked);
  return `/readyz: ${answers} answers, p50 ${p50} ms, p99 ${p99} ms, at most ${max} ms`;
}

/** Whether nothing runs beside this test: how long something takes is compared with a limit then. */
export const MEASURES = process.env.KUBETAB_TIMING === '1';

/** Limits of an API server beside whatever is typed, in milliseconds. */
const MOST = { p99: 200, max: 1000 } as const;

/** How many answers are enough for the limit of p99 to say something. */
export const ENOUGH = 100;

/**
 * Fails the test if the API server has answered later than it may. Only where times are measured.
 *
 * @param asked what was asked: more than `ENOUGH`
 */
export function expectQuick(asked: readonly Asked[]): void {
  expect(asked.length).toBeGreaterThan(ENOUGH);
  const { p99, max } = percentiles(asked);
  expect(p99, summary(asked)).toBeLessThan(MOST.p99);
  expect(max, summary(asked)).toBeLessThan(MOST.max);
}

/** Resolves when the last row of the terminal is a prompt, to when that was by the page's clock, in milliseconds. */
export async function promptIn(page: Page): Promise<number> {
  const seen = await page.waitForFunction(
    () => {
      const rows = [...document.querySelectorAll('.terminal .xterm-rows > div')];
      const last = rows
        .map((row) => row.textContent.replaceAll('\u00a0', ' ').trimEnd())
        .findLast((row) => row !== '');
      return /^\S+ \$/.test(last ?? '') && performance.now();
    },
    undefined,
    { timeout: 240_000 },
  );
  return (await seen.jsonValue()) as number;
}

/** Types keys into the terminal of a page. */
export async function typeInto(page: Page, keys: string): Promise<void> {
  await page.locator('.terminal textarea').focus();
  await page.keyboard.type(keys);
}

/** The rows of the terminal that hold something. */
export const rowsOf = async (page: Page) =>
  // biome-ignore lint/performance/useDomNodeTextContent: the text of the DOM does not tell where a row ends
  (await page.locator('.terminal .xterm-rows').innerText())
    .split('\n')
    .map((row) => row.trimEnd())
    .filter((row) => row !== '');
