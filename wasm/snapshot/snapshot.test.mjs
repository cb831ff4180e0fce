import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { startEngine } from '../host/engine.mjs';
import { buildTestEngine, until } from '../host/testengine.mjs';
import { decode, encode, hex, lay, sha256, SnapshotError } from './format.mjs';
import { takeSnapshot } from './take.mjs';

const DATE = Date.parse('2026-01-31T00:00:00Z');

let wasm;
let snapshot;
let folder;
const file = (name, bytes) => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};

before(async () => {
  wasm = buildTestEngine();
  folder = mkdtempSync(join(tmpdir(), 'kubetab-snapshot-'));
  snapshot = file('good', await takeSnapshot({ wasm, date: DATE }));
});
after(() => rmSync(folder, { recursive: true }));

const state = async (engine) => (await engine.fetch('/state')).json();

async function resume(options = {}) {
  let log = '';
  const engine = await startEngine({ wasm, snapshot, onLog: (text) => (log += text), ...options });
  assert.equal(log, '');
  return engine;
}

test('a program goes on from where it was', async () => {
  const engine = await resume();
  assert.deepEqual(Object.keys(engine.stages), ['ready']);
  const first = await state(engine);
  assert.ok(first.ticks >= 60, `${first.ticks} seconds had been counted`);
  await until('the ticker goes on', async () => (await state(engine)).ticks > first.ticks);
  const response = await engine.fetch('/echo', { method: 'POST', body: 'hello' });
  assert.equal(await response.text(), 'hello');
  assert.equal(await engine.close(), 0);
});

test('the same module, settings and date make the same snapshot', async () => {
  assert.ok(Buffer.from(await takeSnapshot({ wasm, date: DATE })).equals(readFileSync(snapshot)));
  assert.ok(!Buffer.from(await takeSnapshot({ wasm, date: DATE + 1000 })).equals(readFileSync(snapshot)));
});

test('two that go on from one snapshot draw different random numbers', async () => {
  const [a, b] = [await resume(), await resume()];
  const [x, y] = [await state(a), await state(b)];
  assert.notDeepEqual(x.random, y.random);
  await Promise.all([a.close(), b.close()]);
});

test('the time in between passes for the wall clock and not for the monotonic one', async () => {
  const began = Date.now();
  const engine = await resume();
  const { uptimeMs, wallMs } = await state(engine);
  assert.ok(uptimeMs >= 60_000 && uptimeMs < 120_000 + (Date.now() - began), `up for ${uptimeMs} ms`);
  assert.ok(wallMs >= began && wallMs <= Date.now(), `${wallMs} is not now`);
  await engine.close();
});

test('the wall clock does not go back where the snapshot is of the future', async () => {
  const date = Date.now() + 1e9;
  const engine = await resume({ snapshot: file('future', await takeSnapshot({ wasm, date })) });
  const { wallMs } = await state(engine);
  assert.ok(wallMs > Date.now() + 1e8, `${wallMs} is before the snapshot`);
  await engine.close();
});

test('what cannot be found again cannot be frozen', async () => {
  await assert.rejects(takeSnapshot({ wasm, config: { hold: true } }), /a value without a name: \[object Object\]/);
});

test('a program that ends before it is ready has no snapshot', async () => {
  await assert.rejects(takeSnapshot({ wasm, config: { fail: true } }), /told to fail/);
});

const changed = (at, bytes = readFileSync(snapshot)) => {
  bytes[at < 0 ? bytes.length + at : at] ^= 1;
  return bytes;
};
const unusable = {
  'no snapshot': [() => Buffer.from('<!doctype html>'), /no snapshot/],
  'one of another version': [() => changed(7), /another version/],
  'an altered header': [() => changed(100), /header/],
  'an altered body': [() => changed(-1), /not what was written/],
  'half of one': [() => readFileSync(snapshot).subarray(0, -70_000), /torn/],
  'a few bytes of one': [() => readFileSync(snapshot).subarray(0, 20), /torn/],
  'an empty one': [() => Buffer.alloc(0), /torn/],
  'more than one': [() => Buffer.concat([readFileSync(snapshot), Buffer.alloc(1)]), /longer/],
};
for (const [what, [bytes, why]] of Object.entries(unusable)) {
  test(`${what}: the engine starts without it and says so in a line`, () => startsWithout(file('bad', bytes()), why));
}

test('one that is missing: the engine starts without it and says so in a line', () => startsWithout(join(folder, 'none'), /ENOENT/));

test('one of another module: the engine starts without it and says so in a line', async () => {
  // A module with one more custom section is another one.
  const other = join(folder, 'other.wasm');
  writeFileSync(other, Buffer.concat([readFileSync(wasm), Buffer.from([0, 2, 1, 0x78])]));
  copyFileSync(join(dirname(wasm), 'wasm_exec.js'), join(folder, 'wasm_exec.js'));
  await startsWithout(snapshot, /another module/, { wasm: other });
});

test('one of other settings: the engine starts without it and says so in a line', () => startsWithout(snapshot, /other settings/, { config: { verbosity: 1 } }));

async function startsWithout(path, why, options = {}) {
  let log = '';
  const engine = await startEngine({ wasm, snapshot: path, onLog: (text) => (log += text), ...options });
  await engine.stage('ready');
  assert.match(log, /^kubetab: the engine is started without its snapshot: .*\n$/);
  assert.match(log, why);
  assert.ok((await state(engine)).uptimeMs < 60_000);
  assert.equal(await engine.close(), 0);
}

test('memory comes back as it was, however the bytes arrive', async () => {
  const before = new Uint8Array(1 << 16).fill(1, 1000, 5000);
  const after = new Uint8Array(9 << 20);
  after.set(before);
  after.fill(0, 2000, 3000); // data that is gone
  for (let i = 5 << 20; i < 8 << 20; i++) after[i] = i * 7;
  const bytes = await encode({ pages: after.length >> 16 }, before, after);
  for (const size of [1 << 10, 4_194_303, 5_000_000, bytes.length]) {
    const read = await decode(pieces(bytes, size));
    const memory = new Uint8Array(after.length);
    memory.set(before);
    lay(read, memory);
    assert.ok(Buffer.from(memory).equals(Buffer.from(after)), `in pieces of ${size}`);
  }
  assert.ok(bytes.length < 4 << 20); // what has not changed is left out
  await assert.rejects(decode(pieces(bytes.subarray(0, -1), 1000)), SnapshotError);
});

async function* pieces(bytes, size) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('where there is no crypto.subtle, the sums are the same', async () => {
  const bytes = new TextEncoder().encode('kubetab'.repeat(1000));
  const sum = hex(await sha256(bytes));
  const { crypto } = globalThis;
  Object.defineProperty(globalThis, 'crypto', { value: {}, configurable: true, writable: true });
  try {
    assert.equal(hex(await sha256(bytes)), sum);
  } finally {
    Object.defineProperty(globalThis, 'crypto', { value: crypto, configurable: true, writable: true });
  }
});
