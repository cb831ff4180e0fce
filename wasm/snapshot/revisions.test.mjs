// What was ever written costs nothing at a start. Needs what make wasm builds; measures, and is for make test-timing.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngine } from '../host/engine.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const built = join(root, process.env.KUBETAB_WASM ?? 'build/wasm');

const REVISIONS = 1_000_000;
const OBJECTS = 10;
/** How often each is started; in turns, of which each begins with the other one, because a machine is not as quick all the time. */
const STARTS = 15;
/** How much longer a start may take than that of a cluster with the same objects. */
const MOST = 1.2;

const maps = '/api/v1/namespaces/default/configmaps';

const start = (kept) => startEngine({ wasm: join(built, 'kubetab.wasm'), snapshot: join(built, 'kubetab.snapshot'), kept, onLog: () => {} });
const ask = async (engine, path, init) => (await engine.fetch(path, init)).json();
const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];

/** The entries of a cluster after so many revisions, which the store makes natively. */
function aged(kept, revisions) {
  const entries = Object.fromEntries([...kept].map(([name, record]) => [name, Buffer.from(record).toString('base64')]));
  const args = ['run', '-tags', 'grpcnotrace', './wasm/snapshot/revisions', '-n', String(revisions)];
  const { stdout, stderr, status } = spawnSync('go', args, { cwd: root, input: JSON.stringify(entries), maxBuffer: 2 ** 30, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return new Map(Object.entries(JSON.parse(stdout)).map(([name, record]) => [name, new Uint8Array(Buffer.from(record, 'base64'))]));
}

test('a start after a million revisions takes as long as one of a new cluster with the same objects', { skip: !process.env.KUBETAB_TIMING }, async () => {
  const fresh = new Map();
  const first = await start(fresh);
  for (const name of ['passing', ...Array.from({ length: OBJECTS }, (_, i) => `boat-${i}`)]) {
    const body = JSON.stringify({ metadata: { name }, data: { cargo: 'sand' } });
    const { status } = await first.fetch(maps, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    assert.equal(status, 201);
  }
  await first.close();
  const began = performance.now();
  const old = aged(fresh, REVISIONS);
  console.log(`${REVISIONS} revisions in ${Math.round(performance.now() - began)} ms: ${fresh.size} entries have become ${old.size}`);

  const clusters = Object.entries({ fresh, old });
  const ready = { fresh: [], old: [] };
  const listed = { fresh: [], old: [] };
  const found = {};
  for (let i = 0; i <= STARTS; i++) {
    for (const [name, kept] of clusters.reverse()) {
      const from = performance.now();
      const engine = await start(new Map(kept));
      const isReady = performance.now() - from;
      const { items, metadata } = await ask(engine, maps);
      const hasListed = performance.now() - from;
      assert.equal(engine.refusedKept, undefined);
      found[name] = { revision: Number(metadata.resourceVersion), objects: items.map((item) => [item.metadata.name, item.metadata.uid, item.data]) };
      await engine.close();
      if (i === 0) continue; // the module was not compiled yet
      ready[name].push(isReady);
      listed[name].push(hasListed);
    }
  }
  assert.deepEqual(found.old.objects, found.fresh.objects);
  assert.ok(found.old.revision > REVISIONS && found.fresh.revision < REVISIONS / 100, JSON.stringify([found.old.revision, found.fresh.revision]));
  for (const [what, times] of Object.entries({ ready, listed })) {
    const ratio = median(times.old) / median(times.fresh);
    console.log(`${what}: ${times.old.map(Math.round)} ms, and ${times.fresh.map(Math.round)} ms of a new cluster: ${ratio.toFixed(3)} times`);
    assert.ok(ratio <= MOST, `${what}: ${ratio.toFixed(3)} times`);
  }
});
