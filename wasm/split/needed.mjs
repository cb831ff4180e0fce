// What an engine needs of a part of the module that it does not have, for tests.

import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** What a test fails with when an engine calls a function of a part that it must do without. */
export class Needed extends Error {}

/**
 * Names a function that was called.
 *
 * @param {number} slot of the function in the table
 * @param {string} built the folder of the module
 * @returns {string}
 */
export function named(slot, built) {
  return execFileSync('go', ['run', './wasm/split', '-slot', `${slot}`, join(built, 'whole.wasm')], { cwd: root, encoding: 'utf8' }).trim();
}

/**
 * Does something with an engine, and once more with another one where the first needed a part that it must do without. What
 * depends on the moment calls what it has not called in a hundred runs, such as a lock for which two wait, and then one visitor
 * waits for the part. What everybody calls is needed both times, and fails.
 *
 * @param {{diagnostic: (text: string) => void}} t the test, which is told what the first engine needed
 * @param {() => Promise<void>} act starts an engine of its own
 * @throws what the first attempt failed with, if that was not Needed, or what the second failed with
 */
export async function seldom(t, act) {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Needed)) throw error;
    t.diagnostic(error.message);
    await act();
  }
}
