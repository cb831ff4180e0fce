// The command line of wasm/host/serve.mjs, run as a process.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { before, test } from 'node:test';
import { buildTestEngine, root, until } from './testengine.mjs';

let wasm;
before(() => (wasm = buildTestEngine()));

function host(...args) {
  const child = spawn(process.execPath, ['wasm/host/serve.mjs', ...args], { cwd: root });
  const seen = { stdout: '', stderr: '', child };
  child.stdout.on('data', (text) => (seen.stdout += text));
  child.stderr.on('data', (text) => (seen.stderr += text));
  seen.ended = new Promise((resolve) => child.on('close', (code) => resolve(code)));
  return seen;
}

test('serves until it is told to stop, and ends with 0', async () => {
  const run = host('--wasm', wasm);
  await until('it listens', () => run.stdout.includes('\n'));
  const [, url] = run.stdout.match(/^listening (http:\/\/127\.0\.0\.1:\d+)\n$/);
  assert.equal(await (await fetch(`${url}/readyz`)).text(), 'ok');
  const watch = await fetch(`${url}/watch`); // a stream that is open does not hold it back
  run.child.kill('SIGTERM');
  assert.equal(await run.ended, 0);
  await watch.text().catch(() => {});
});

test('what a request hands to another goroutine waits for nobody, and nor does who is handed a lock', async () => {
  const run = host('--wasm', wasm);
  await until('it listens', () => run.stdout.includes('\n'));
  const ran = await (await fetch(`${run.stdout.trim().split(' ')[1]}/ahead`)).json();
  // Everyone has a share: in a second queue of the scheduler, too.
  assert.ok(ran.fewest >= 5, JSON.stringify(ran));
  // Every other time it is the turn of one of the others. It would be that of all of them.
  assert.ok(ran.handing < 4 * ran.hands, JSON.stringify(ran));
  assert.ok(ran.calculating > ran.others, JSON.stringify(ran));
  // A turn of eight milliseconds ends within every eighth of them, or more.
  assert.ok(ran.cut < ran.goes / 10, JSON.stringify(ran));
  // Two rounds or three: until those who have had the lock have ended, and who waits for them hears of it. It would be one for each.
  assert.ok(ran.locking < 10 * ran.others, JSON.stringify(ran));
  run.child.kill('SIGTERM');
  assert.equal(await run.ended, 0);
});

test('programs run behind all others, and not never', async () => {
  const run = host('--wasm', wasm);
  await until('it listens', () => run.stdout.includes('\n'));
  const beside = await (await fetch(`${run.stdout.trim().split(' ')[1]}/behind`)).json();
  // One for each 24 ms that others could always run: kubetabBehindNS of runtime/lock_js.go, of wasm/patch.
  for (const [whose, { took, ran }] of Object.entries(beside))
    assert.ok(ran <= took / 24 + 1, `${ran} programs ran in ${took} ms beside ${whose}`);
  run.child.kill('SIGTERM');
  assert.equal(await run.ended, 0);
});

test('where a program has filled the heap, no request does the program\'s share of the collection', async () => {
  const run = host('--wasm', wasm);
  await until('it listens', () => run.stdout.includes('\n'));
  const beside = await (await fetch(`${run.stdout.trim().split(' ')[1]}/beside-garbage`)).json();
  // Eight for each that it allocates: kubetabMostAssist of runtime/mgcmark.go, of wasm/patch.
  assert.ok(beside.marked < 8 * beside.allocated, `${beside.marked} bytes were marked for ${beside.allocated} that were allocated`);
  run.child.kill('SIGTERM');
  assert.equal(await run.ended, 0);
});

for (const [what, query] of [
  ['their time is over', ''],
  ['they have made their steps', '?steps'],
])
  test(`a program that hurries runs among all others, and so do those that it starts, until ${what}`, {
    timeout: 240_000,
  }, async () => {
    const run = host('--wasm', wasm);
    await until('it listens', () => run.stdout.includes('\n'));
    const times = await (await fetch(`${run.stdout.trim().split(' ')[1]}/hurrying${query}`)).json();
    for (const [who, ran] of Object.entries(times)) assert.ok(ran > 20, `${who} ran ${ran} times of a hundred`);
    run.child.kill('SIGTERM');
    assert.equal(await run.ended, 0);
  });

test('whatever keeps the engine busy, requests get through, and so does a cancel', async () => {
  const run = host('--wasm', wasm);
  await until('it listens', () => run.stdout.includes('\n'));
  const url = run.stdout.trim().split(' ')[1];
  const ask = (path) => fetch(url + path, { signal: AbortSignal.timeout(240_000) });
  for (const work of [
    'allocating',
    'large',
    'recursion',
    'collecting',
    'files',
    'answering',
    'logging',
    'goroutines',
    'calls',
    'searches',
  ]) {
    const abort = new AbortController();
    let busy = 0;
    const ended = [1, 2, 3].map(async () => {
      const response = await fetch(`${url}/busy/${work}`, { signal: abort.signal });
      busy++;
      await response.text();
    });
    await until(`three are ${work}`, () => busy === 3);
    for (let i = 0; i < 10; i++) assert.equal(await (await ask('/readyz')).text(), 'ok');
    abort.abort();
    for (const end of ended) await assert.rejects(end, { name: 'AbortError' });
    await until(`nobody is ${work}`, async () => (await (await ask('/busy')).text()) === '0');
  }
  run.child.kill('SIGTERM');
  assert.equal(await run.ended, 0);
});

test('what only calculates ends with its owner', async () => {
  const run = host('--wasm', wasm);
  await until('it listens', () => run.stdout.includes('\n'));
  const url = run.stdout.trim().split(' ')[1];
  for (const work of ['search', 'numbers']) {
    const abort = new AbortController();
    const response = await fetch(`${url}/owned/${work}`, { signal: abort.signal });
    for (let i = 0; i < 10; i++) assert.equal(await (await fetch(`${url}/readyz`)).text(), 'ok');
    assert.equal(await (await fetch(`${url}/busy`)).text(), '1');
    abort.abort();
    await assert.rejects(response.text(), { name: 'AbortError' });
    await until(
      `nobody is at the ${work}`,
      async () => (await (await fetch(`${url}/busy`)).text()) === '0',
    );
  }
  run.child.kill('SIGTERM');
  assert.equal(await run.ended, 0);
});

test('ends with 1 when the engine dies, and says of what', async () => {
  const run = host('--wasm', wasm);
  await until('it listens', () => run.stdout.includes('\n'));
  await fetch(`${run.stdout.trim().split(' ')[1]}/crash`).catch(() => {});
  assert.equal(await run.ended, 1);
  assert.match(run.stderr, /nobody recovers this/);
});

test('ends with 1 when the engine does not start', async () => {
  const run = host('--wasm', wasm, '--config', '{"fail":true}');
  assert.equal(await run.ended, 1);
  assert.match(run.stderr, /host: told to fail/);
});

test('ends with 1 when there is no module or no address', async () => {
  const missing = host('--wasm', 'build/none.wasm');
  assert.equal(await missing.ended, 1);
  assert.match(missing.stderr, /host: .*build\/none\.wasm: .*make wasm/);

  const first = host('--wasm', wasm);
  await until('it listens', () => first.stdout.includes('\n'));
  const second = host('--wasm', wasm, '--listen', new URL(first.stdout.trim().split(' ')[1]).host);
  assert.equal(await second.ended, 1);
  assert.match(second.stderr, /host: .*EADDRINUSE/);
  first.child.kill('SIGINT');
  assert.equal(await first.ended, 0);
});

test('ends with 2 on a wrong flag', async () => {
  for (const args of [['--listn', 'x'], ['--listen', 'nowhere'], ['--config', '{'], ['surplus']]) {
    const run = host(...args);
    assert.equal(await run.ended, 2, args.join(' '));
    assert.match(run.stderr, /usage: node wasm\/host\/serve\.mjs/);
  }
  const help = host('--help');
  assert.equal(await help.ended, 0);
  assert.match(help.stdout, /^usage:/);
});
