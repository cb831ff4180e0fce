// An engine that has no network at first, for tests: the rest of its module cannot be had.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEngine } from '../host/engine.mjs';
import { sit } from '../host/seat.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const built = resolve(root, process.env.KUBETAB_WASM ?? 'build/wasm');

/** Why tests of it are skipped, or false. */
export const skip = !existsSync(join(built, 'kubetab.rest.wasm')) && 'the module is whole';

/**
 * Starts one, and sits down at a terminal of it.
 *
 * @returns {Promise<{engine: object, runs: (line: string) => Promise<string>, connect: () => void}>} connect brings the network; runs is Seat's
 */
export async function startOffline() {
  let isOnline = false;
  let tryAgain;
  const engine = await startEngine({
    wasm: join(built, 'kubetab.wasm'),
    snapshot: join(built, 'kubetab.snapshot'),
    onLog: () => {},
    later: async (_slot, part) => {
      if (part === 'rest' && !isOnline) throw new Error('there is no network.');
      return WebAssembly.compile(readFileSync(join(built, `kubetab.${part}.wasm`)));
    },
    after: (retry) => (tryAgain = retry),
  });
  const { runs } = await sit(engine);
  return {
    engine,
    runs,
    connect() {
      isOnline = true;
      tryAgain?.();
    },
  };
}
