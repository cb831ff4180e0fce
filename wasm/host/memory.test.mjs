// An engine whose memory is nearly full. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const built = process.env.KUBETAB_WASM ?? 'build/wasm';
const LIMIT = 300 << 20; // in place of 2.5 GiB
// Of Events upstream has no watch cache, which would keep what was deleted until other events have taken its place.
const events = '/api/v1/namespaces/default/events';
let engine;
let url;
let log = '';

before(async () => {
  const config = JSON.stringify({ nodes: 0, noScheduler: true, memory: LIMIT });
  engine = spawn(process.execPath, ['wasm/host/serve.mjs', '--wasm', `${built}/kubetab.wasm`, '--config', config], { cwd: root });
  engine.stderr.on('data', (text) => (log += text));
  url = await new Promise((resolve, reject) => {
    let out = '';
    engine.stdout.on('data', (text) => {
      out += text;
      const found = out.match(/^listening (http\S+)\n/);
      if (found) resolve(found[1]);
    });
    engine.on('close', (code) => reject(new Error(`ended with ${code}: ${log}`)));
  });
});
after(() => engine.kill());

const ask = async (path, method = 'GET', body = undefined) => {
  const response = await fetch(url + path, { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
};

const create = (name) => {
  const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p' };
  return ask(events, 'POST', { metadata: { name, labels: { fills: 'memory' } }, involvedObject, message: name.padEnd(900_000, 'x') });
};

test('an engine whose memory is full refuses what would add, keeps what it has, and goes on when there is room', { timeout: 900_000 }, async () => {
  const acknowledged = [];
  let refused;
  for (let i = 0; i < 400 && !refused; i++) {
    const made = await create(`fill-${i}`);
    if (made.status === 201) acknowledged.push(`fill-${i}`);
    else refused = made;
  }
  assert.equal(refused?.status, 507, `${JSON.stringify(refused)} after ${acknowledged.length}`);
  assert.equal(refused.body.kind, 'Status');
  assert.equal(refused.body.reason, 'InsufficientStorage');
  // Objects that are listed or deleted take as much again as bytes, and as objects: that comes before the limit.
  assert.match(refused.body.message, /the store takes \d+ MiB of memory, and beside what else is there it may take \d+ MiB\. Nothing was changed/);

  const kept = await ask(`${events}?labelSelector=fills=memory`);
  assert.deepEqual(kept.body.items.map(({ metadata }) => metadata.name).sort(), acknowledged.sort());
  assert.equal((await ask(`${events}?labelSelector=fills=memory`, 'DELETE')).status, 200);
  assert.equal((await ask(`${events}/${acknowledged[0]}`)).status, 404);

  let again = refused; // what was deleted is in the history, and in memory until the next collection
  for (const began = Date.now(); again.status === 507 && Date.now() - began < 300_000; ) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    again = await create('after');
  }
  assert.equal(again.status, 201, JSON.stringify(again.body.message));
});
