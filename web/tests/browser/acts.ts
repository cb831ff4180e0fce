import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { controlled, ready } from './browser';
import { rowsOf, typeInto } from './probe';

// What a visitor does with a page, for the monkey and the list of things.

/** Waits until a page's engine is ready, and its terminal takes keys. */
export async function terminalOf(page: Page): Promise<void> {
  await ready(page);
  await controlled(page);
  await page.locator('.terminal textarea').waitFor();
}

/** Sends a request as a script of the page does. Returns its status. */
export function ask(page: Page, method: string, path: string, body?: unknown): Promise<number> {
  return page.evaluate(
    async ([method, path, text]) => {
      const headers = { 'content-type': 'application/json' };
      return (await fetch(path, { method, headers, body: text ?? null })).status;
    },
    [method, path, body === undefined ? undefined : JSON.stringify(body)] as const,
  );
}

/** Makes a namespace by the API of a page, wherever its host has it, and returns the status. */
export const createNamespace = (page: Page, name: string) =>
  ask(page, 'POST', 'api/v1/namespaces', { metadata: { name } });

/** Ends the line that runs in the terminal of a page, if one does. */
export async function interrupt(page: Page): Promise<void> {
  await page.locator('.terminal textarea').focus();
  await page.keyboard.press('Control+c');
}

let turn = 0;

/** The shell of a page answers. */
export async function shellAnswers(page: Page): Promise<void> {
  const word = `alive-${++turn}`;
  await interrupt(page);
  await typeInto(page, `clear; echo ${word.replace('-', '-""')}\n`);
  await expect.poll(() => rowsOf(page)).toContain(word);
}

/** Types a line, and resolves when the shell has gone on after it. */
export async function typeLine(page: Page, line: string): Promise<void> {
  const word = `done-${++turn}`;
  await typeInto(page, `clear; ${line}; echo ${word.replace('-', '-""')}\n`);
  await expect.poll(() => rowsOf(page)).toContain(word);
}
