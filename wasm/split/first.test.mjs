// What a visitor does first, while a page has only what it begins with. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngine } from '../host/engine.mjs';
import { sit } from '../host/seat.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const built = resolve(root, process.env.KUBETAB_WASM ?? 'build/wasm');
const skip = !existsSync(join(built, 'kubetab.soon.wasm')) && 'nothing comes soon';

// Once a single function that first.txt did not name had each first visit wait for 4 MB more: 1.7 s at 20 Mbit/s.
test('kubectl prints before what comes soon has come', { skip, timeout: 120_000 }, async (t) => {
  let log = '';
  const engine = await startEngine({
    wasm: join(built, 'kubetab.wasm'),
    snapshot: join(built, 'kubetab.snapshot'),
    onLog: (text) => (log += text),
    later: async () => {
      throw new Error('it has not come.');
    },
    after: () => {},
  });
  t.after(() => void engine.close());
  const { types, sees } = await sit(engine);
  await types('kubectl get namespaces\n');
  const printed = await sees(/kube-system\s+Active[^]*\$ $|could not be\s+downloaded/);
  assert.match(printed, /kube-system/, `${printed}\n${log}`);
});
