// What visitors type in their first hour. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngine } from '../host/engine.mjs';
import { sit } from '../host/seat.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const built = resolve(root, process.env.KUBETAB_WASM ?? 'build/wasm');
const snapshot = join(built, 'kubetab.snapshot');
const skip = !existsSync(snapshot) && 'there is no snapshot';
const lines = readFileSync(join(root, 'wasm/split/hour.txt'), 'utf8')
  .split('\n')
  .filter((line) => line && !line.startsWith('#'));

// It costs a visitor 11 MB, and seconds.
test('nothing that is typed in the first hour needs the rest of the module', { skip, timeout: 600_000 }, async (t) => {
  // Whoever calls such a function waits for it, so the line does.
  let isMissing;
  const missing = new Promise((_, reject) => (isMissing = reject));
  missing.catch(() => undefined); // who waits for a line hears of it
  const engine = await startEngine({
    wasm: join(built, 'kubetab.wasm'),
    snapshot,
    onLog: () => {},
    later: async (slot, part) => {
      if (part === 'rest') {
        isMissing(new Error(`The command go run ./wasm/split -slot ${slot} build/wasm/whole.wasm names what is called.`));
        throw new Error('it is not there');
      }
      return WebAssembly.compile(readFileSync(join(built, `kubetab.${part}.wasm`)));
    },
    after: () => {},
  });
  t.after(() => void engine.close());
  const { runs } = await sit(engine);
  const failed = [];
  for (const line of lines) {
    const printed = await Promise.race([runs(line), missing]);
    if (!/code 0\r?\n/.test(printed)) failed.push(`${line}\n${printed.slice(-500)}`);
  }
  await Promise.race([missing, undefined]);
  assert.deepEqual(failed, []);
});
