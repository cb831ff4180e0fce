// Writes down which functions a marked module calls.

import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVERY, noteCalls } from '../split/marks.mjs';

/**
 * Writes the numbers of the functions that are called from now on into a file of its own in folder, again and again.
 * Does nothing for a module without marks.
 *
 * @param {WebAssembly.Instance} instance
 * @param {string} folder
 */
export function recordCalls(instance, folder) {
  const called = noteCalls(instance);
  if (!called) return;
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${process.pid}-${Date.now()}.json`);
  const write = () => {
    writeFileSync(`${file}.part`, JSON.stringify(called()));
    renameSync(`${file}.part`, file);
  };
  setInterval(write, EVERY).unref();
  process.once('exit', write);
}
