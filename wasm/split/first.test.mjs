// What a visitor does first, while a page has only what it begins with. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngine } from '../host/engine.mjs';
import { sit } from '../host/seat.mjs';
import { named, Needed, seldom } from './needed.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const built = resolve(root, process.env.KUBETAB_WASM ?? 'build/wasm');

// Once a single function that first.txt did not name had each first visit wait for 4 MB more: 1.7 s at 20 Mbit/s.
test('kubectl prints before what comes soon has come', { timeout: 240_000 }, (t) => seldom(t, firstLine));

async function firstLine() {
  let log = '';
  let waitedFor;
  const engine = await startEngine({
    wasm: join(built, 'kubetab.wasm'),
    snapshot: join(built, 'kubetab.snapshot'),
    onLog: (text) => (log += text),
    later: async (slot) => {
      if (slot >= 0) waitedFor ??= slot; // it is fetched by itself, too
      throw new Error('it has not come.');
    },
    after: () => {},
  });
  // It is not closed: what closing calls would be in the profile.
  const { types, sees } = await sit(engine);
  await types('kubectl get namespaces\n');
  const printed = await sees(/kube-system\s+Active[^]*\$ $|could not be\s+downloaded/);
  // Nobody waits for a controller that looks around, but what it calls is fetched before kubectl has printed.
  if (waitedFor !== undefined) {
    throw new Needed(`${named(waitedFor, built)} is called first, and wasm/split/first.txt does not name it. make profile-first adds what it misses.`);
  }
  assert.match(printed, /kube-system/, `${printed}\n${log}`);
}
