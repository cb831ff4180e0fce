import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

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
  readonly answers: number;
  readonly failures: readonly string[];
  /** Milliseconds for each answer. */
  readonly took: readonly number[];
}

/** Has a page ask for /readyz, 100 ms after each answer, as long as the page is there. */
export async function beginProbe(page: Page): Promise<void> {
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
}

export const probeOf = (page: Page) =>
  page.evaluate(() => (window as unknown as { probe: Probe }).probe);

/** The times in a sentence. */
export function summary({ took }: Probe): string {
  const sorted = took.toSorted((a, b) => a - b).map(Math.round);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)];
  return `/readyz: ${sorted.length} answers, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${sorted.at(-1)} ms`;
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
