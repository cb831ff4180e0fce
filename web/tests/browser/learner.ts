import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Lesson } from '../../src/answers/lessons';
import { ready } from './browser';

// What somebody does who plays a lesson.

/** The address of the first lesson, to which a number of a step can be added. */
export const FIRST = '#/lesson/first/request';

export function lesson(id: string, language: 'en' | 'zh' = 'en'): Lesson {
  const file = resolve(import.meta.dirname, `../../dist/lessons/${id}.${language}.json`);
  return JSON.parse(readFileSync(file, 'utf8')) as Lesson;
}

export type Step = Lesson['steps'][number];

/** A check that has turned green. */
export function done(page: Page, title: string): Locator {
  return page.locator('.check.is-done', { hasText: title });
}

/** Waits until the lesson's checks are looked at. */
export async function looking(page: Page): Promise<void> {
  await ready(page);
  await page.locator('.checks').waitFor();
  await page.locator('.checks-wait').waitFor({ state: 'detached' });
}

/** Types a line into the terminal. */
export async function type(page: Page, line: string): Promise<void> {
  await page.locator('.terminal textarea').focus();
  await page.keyboard.type(`${line}\n`);
}

/** Waits until a newcomer's first command is at the prompt, and takes it away. */
export async function prompt(page: Page): Promise<void> {
  const screen = page.locator('.terminal .xterm-rows');
  await expect.poll(() => screen.textContent()).toMatch(/~ \$/);
  await page.locator('.terminal textarea').focus();
  await page.keyboard.press('Control+u');
}
