// Which functions a module calls that wasm/split has marked.

import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How the names of the marks begin among the module's exports. */
export const MARK = 'mark ';

// How often what has been called is written, in ms: whoever runs an engine may kill it.
const EVERY = 2000;

/**
 * Writes the numbers of the functions that are called from now on into a file of its own in folder, again and again.
 * Does nothing for a module without marks.
 *
 * @param {WebAssembly.Instance} instance
 * @param {string} folder
 */
export function recordCalls({ exports }, folder) {
  const marks = Object.keys(exports).filter((name) => name.startsWith(MARK));
  if (marks.length === 0) return;
  for (const name of marks) exports[name].value = 0;
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${process.pid}-${Date.now()}.json`);
  const write = () => {
    const called = [];
    for (const name of marks) {
      const first = 32 * Number(name.slice(MARK.length));
      for (let bit = 0; bit < 32; bit++) if (exports[name].value & (1 << bit)) called.push(first + bit);
    }
    writeFileSync(`${file}.part`, JSON.stringify(called));
    renameSync(`${file}.part`, file);
  };
  setInterval(write, EVERY).unref();
  process.once('exit', write);
}
