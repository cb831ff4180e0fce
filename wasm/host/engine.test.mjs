import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EngineError, startEngine } from './engine.mjs';
import { buildTestEngine, until } from './testengine.mjs';

let wasm;
let engine;
let go;
let objects; // by which the engine and its host know each other; those of another engine are others
let log = '';

before(async () => {
  wasm = buildTestEngine();
  engine = await startEngine({ wasm, onLog: (text) => (log += text), onInstance: (_, program) => (go = program) });
  await engine.stage('ready');
  const { kubetabHost, kubetabEngine, fs, path, process } = globalThis;
  objects = { kubetabHost, kubetabEngine, fs, path, process };
});

after(async () => {
  if (engine.code === undefined) assert.equal(await engine.close(), 0);
  await assert.rejects(engine.fetch('/readyz'), /was closed/);
});

const atRest = (e = engine) => until('no request is in flight', () => e.stats().requests === 0);

test('a request is answered', async () => {
  const response = await engine.fetch('/echo', { method: 'POST', body: 'hello', headers: [['x-value', 'a'], ['content-type', 'text/x']] });
  assert.equal(response.status, 202);
  assert.equal(response.headers.get('x-value'), 'a');
  assert.equal(await response.text(), 'hello');
  assert.equal((await engine.fetch('/nowhere')).status, 404);
  assert.equal((await engine.fetch('/empty')).status, 204);
  assert.equal(await (await engine.fetch('/readyz', { method: 'HEAD' })).text(), '');
});

test('headers are bytes: what is no ASCII comes back as it went', async () => {
  const response = await engine.fetch('/echo', { method: 'POST', body: '', headers: { 'x-value': 'caf\u00e9' } });
  assert.equal(response.headers.get('x-value'), 'caf\u00e9');
});

test('duplicate headers stay apart', async () => {
  const headers = await new Promise((resolve, reject) => {
    const stream = engine.open(
      { method: 'POST', url: '/echo', headers: ['X-Value', 'a, b', 'x-value', 'c'] },
      { head: (_, list) => resolve(list), chunk() {}, end() {}, abort: reject, pull() {} },
    );
    stream.credit(1);
  });
  const values = headers.filter((_, i) => i % 2 === 1 && headers[i - 1] === 'X-Value');
  assert.deepEqual(values, ['a, b', 'c']);
});

test('a stream arrives event by event, its head before the first', async () => {
  const response = await engine.fetch('/watch');
  const reader = response.body.getReader();
  for (const event of ['one', 'two']) {
    assert.equal((await engine.fetch('/event', { method: 'POST', body: event })).status, 200);
    assert.equal(new TextDecoder().decode((await reader.read()).value), event);
  }
  await reader.cancel();
  await atRest();
});

test('an abort ends the request in the engine', async () => {
  const abort = new AbortController();
  const response = await engine.fetch('/watch', { signal: abort.signal });
  assert.equal(engine.stats().requests, 1);
  const read = response.text();
  abort.abort();
  await assert.rejects(read, { name: 'AbortError' });
  await atRest();
  await assert.rejects(engine.fetch('/watch', { signal: abort.signal }), { name: 'AbortError' });
});

test('5 MB go up and down', async () => {
  const body = Buffer.alloc(5 << 20, 'kubetab ');
  const back = Buffer.from(await (await engine.fetch('/echo', { method: 'POST', body })).arrayBuffer());
  assert.ok(back.equals(body));
  await atRest();
});

test('a reader that does not read holds the handler back', async () => {
  let received = 0;
  const stream = engine.open({ method: 'GET', url: '/endless' }, { head() {}, chunk: (b) => (received += b.length), end() {}, abort() {}, pull() {} });
  stream.credit(100_000);
  await until('all of the credit is used', () => received === 100_000);
  assert.equal(engine.stats().requests, 1); // and it waits: stats() lets Go run until it rests
  assert.equal(received, 100_000);
  stream.cancel();
  await atRest();
});

test('fetch reads ahead by the window and no further', async () => {
  const reader = (await engine.fetch('/endless')).body.getReader();
  let read = 0;
  while (read < 10 << 20) read += (await reader.read()).value.length;
  assert.ok(engine.stats().heapBytes < 64 << 20);
  await reader.cancel();
  await atRest();
});

test('panics of a handler are reported, and the engine goes on', async () => {
  await assert.rejects(engine.fetch('/panic'), (error) => {
    assert.ok(error instanceof EngineError);
    assert.match(error.message, /panic serving GET \/panic: broken invariant[^]*main_js\.go/);
    return true;
  });
  assert.match(log, /broken invariant/);
  const response = await engine.fetch('/late-panic');
  assert.equal(response.status, 200);
  await assert.rejects(response.text(), /broken half way/);
  assert.equal((await engine.fetch('/readyz')).status, 200);
});

test('wrong calls of kubetabEngine are logged, not thrown', () => {
  log = '';
  for (const [name, ...args] of [['request'], ['request', 1, 2, 3, 4, 5], ['body', 'x', null], ['credit', 1], ['cancel', null], ['body', 99, 'text']]) {
    objects.kubetabEngine[name](...args);
    assert.match(log, new RegExp(`kubetabEngine\\.${name}: argument \\d`));
    log = '';
  }
});

test('a list of entries that does not add up is logged, and what is whole before it taken', () => {
  const { kept } = objects.kubetabEngine;
  for (const [names, sizes, bytes, why] of [
    ['a\nb', '1', 1, /2 names and 1 sizes/],
    ['a', '5', 2, /a record of 5 bytes, and 2 are left/],
    ['a', '-1', 2, /a record of -1 bytes/],
    ['a', 'x', 2, /invalid syntax/],
  ]) {
    log = '';
    kept(names, sizes, new Uint8Array(bytes));
    assert.match(log, why);
  }
  log = '';
  kept('a\nb\nc', '1 0 2', new Uint8Array(3));
  assert.equal(log, '');
});

test('a host that throws ends that request, and nothing else', async (t) => {
  const told = t.mock.method(console, 'error', () => {});
  for (const broken of ['head', 'chunk', 'end']) {
    const on = { head() {}, chunk() {}, end() {}, abort() {}, pull() {} };
    const thrown = new Promise((resolve) => {
      on[broken] = () => {
        resolve();
        throw new Error(`${broken} broke`);
      };
    });
    engine.open({ method: 'POST', url: '/echo', body: new Uint8Array(3), window: 9 }, on);
    await thrown;
    assert.match(String(told.mock.calls.at(-1)?.arguments[1]), new RegExp(`${broken} broke`));
    assert.equal((await engine.fetch('/readyz')).status, 200);
  }
});

test('what lies beyond the first two GiB of the memory reaches the host', async () => {
  const large = await startEngine({ wasm, onLog() {} });
  await large.stage('ready');
  assert.equal(await (await large.fetch('/far')).text(), 'x'.repeat(1 << 20));
  assert.ok(large.memory.buffer.byteLength > 2 ** 31);
  await large.close();
});

test('a host may call Go while Go calls it', async () => {
  const nested = [];
  const all = await new Promise((resolve, reject) => {
    let received = 0;
    const stream = engine.open(
      { method: 'POST', url: '/echo', body: 'follows', window: 1 },
      {
        head: () => nested.push(engine.fetch('/readyz')),
        chunk: (bytes) => {
          received += bytes.length;
          stream.credit(bytes.length);
        },
        end: () => {
          nested.push(engine.fetch('/readyz'));
          resolve(received);
        },
        abort: (message) => reject(new Error(message)),
        pull: () => stream.body(null),
      },
    );
    stream.body(new Uint8Array(1000));
  });
  assert.equal(all, 1000);
  for (const { status } of await Promise.all(nested)) assert.equal(status, 200);
  assert.equal(nested.length, 2);
});

test('the module counts its own memory', () => {
  assert.equal(engine.stats().linearBytes, engine.memory.buffer.byteLength);
});

test('an engine that fails says why', async () => {
  await assert.rejects(startEngine({ wasm, config: { fail: true }, onLog() {} }), /^EngineError: told to fail$/);
});

test('a panic of another goroutine ends the engine with its text, and every request with it', async () => {
  const dying = await startEngine({ wasm, onLog() {} });
  await dying.stage('ready');
  const watch = await dying.fetch('/watch');
  await Promise.allSettled([dying.fetch('/crash')]);
  assert.equal(await dying.exited, 2);
  await assert.rejects(watch.text(), /panic: nobody recovers this[^]*main_js\.go/);
  await assert.rejects(dying.fetch('/readyz'), /nobody recovers this/);
  await assert.rejects(dying.stage('never'), /nobody recovers this/);
});

test('an idle engine wakes seldom, and one that is asked on time', async () => {
  let program;
  const idle = await startEngine({ wasm, onLog() {}, onProgram: (p) => (program = p) });
  await idle.stage('ready');
  const wakes = [];
  const resume = program._resume;
  program._resume = () => {
    wakes.push(performance.now());
    resume();
  };
  const apart = () => (wakes.at(-1) - wakes.at(-9)) / 8;
  await until('it sleeps for long', () => wakes.length > 8 && apart() > 200);
  await until('timers are due that ring later', () => performance.now() - wakes.at(-1) > 50);
  const long = idle.fetch('/recursion');
  assert.ok([...program._scheduledTimeouts.values()].includes(null), 'it is called again as soon as its turn is over');
  await long;
  await until('it wakes as often as it wants', () => apart() < 50);
  await idle.close();
});

test('calls in a row each take a small part of a turn of an engine that is busy', async () => {
  let program;
  const busy = await startEngine({ wasm, onLog() {}, onProgram: (p) => (program = p) });
  await busy.stage('ready');
  const abort = new AbortController();
  await busy.fetch('/busy/calls', { signal: abort.signal });
  const turns = [];
  const resume = program._resume;
  program._resume = () => {
    const began = performance.now();
    resume();
    turns.push(performance.now() - began);
  };
  await until('it has had its turns', () => turns.length >= 30);
  const own = turns.splice(0);
  const calls = Array.from({ length: 30 }, () => busy.fetch('/readyz')); // without a task of JavaScript's between them
  const called = turns.splice(0);
  assert.ok(called.length >= calls.length, `${called.length} calls`);
  // The least of each: on a machine that is busy with other things, most take as long as those have the processor.
  const [call, turn] = [Math.min(...called), Math.min(...own)];
  assert.ok(call < turn / 3, `a call took ${call} ms, and a turn ${turn}`);
  await Promise.all(calls);
  abort.abort();
  await busy.close();
});

test('at rest Go holds nothing of JavaScript that cannot be named', async () => {
  await (await engine.fetch('/echo', { method: 'POST', body: Buffer.alloc(1 << 20), headers: { 'x-value': 'a' } })).arrayBuffer();
  await (await engine.fetch('/watch')).body.cancel();
  await atRest();
  const named = new Set([...Object.values(objects), ...Object.values(objects.kubetabEngine), objects.fs.constants, undefined, null]);
  for (const name of Object.getOwnPropertyNames(globalThis)) named.add(globalThis[name]);
  // A string or a number can be written down as it is, and one may stay: Go packs the references of two
  // values into one block, which lives as long as either.
  const isObject = (value) => typeof value === 'object' || typeof value === 'function';
  const unnamed = () => go._values.slice(7).filter((value) => isObject(value) && !named.has(value));
  const kinds = () => unnamed().map((value) => `${value.constructor?.name} ${Object.keys(value).slice(0, 5)}`);
  assert.notEqual(unnamed().length, 0); // what was passed is kept until it is collected
  objects.kubetabEngine.collect();
  await until('values are released', () => unnamed().length === 0).catch(() => assert.deepEqual(kinds(), []));
});

test('who works for a request has no labels for a profile of goroutines', async () => {
  const profile = await (await engine.fetch('/goroutines')).text();
  assert.match(profile, /^goroutine profile: total \d+\n/);
  assert.match(profile, /main\.handler\.func/); // the one of this request
  assert.match(profile, /^# labels: {}$/m);
});

test('recursion is bounded by memory, not by the stack of JavaScript', async () => {
  assert.equal(await (await engine.fetch('/recursion')).text(), '100000 100000 10000 200 100000');
});

test('endless recursion ends the engine and is told', async () => {
  const dying = await startEngine({ wasm, onLog() {} });
  await dying.stage('ready');
  await Promise.allSettled([dying.fetch('/endless-recursion')]);
  assert.notEqual(await dying.exited, 0);
  await assert.rejects(dying.fetch('/readyz'), /goroutine stack exceeds 67108864-byte limit[^]*stack overflow/);
});
