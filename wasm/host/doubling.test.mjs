// Lines that double a text, in the engine of a page. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const built = resolve(root, process.env.KUBETAB_WASM ?? 'build/wasm');
const snapshot = join(built, 'kubetab.snapshot');
const skip = !existsSync(snapshot) && 'there is no snapshot';
let engine;
let url;
let log = '';
let peak = ''; // of the memory of the engine's process, as Linux writes it
let sampling;

before(async () => {
  if (skip) return;
  engine = spawn(process.execPath, ['wasm/host/serve.mjs', '--wasm', `${built}/kubetab.wasm`, '--snapshot', snapshot], { cwd: root });
  engine.stderr.on('data', (text) => (log = (log + text).slice(0, 10_000)));
  sampling = setInterval(samplePeak, 100);
  url = await new Promise((found, reject) => {
    engine.stdout.once('data', (text) => found(String(text).trim().split(' ')[1]));
    engine.once('close', (code) => reject(new Error(`ended with ${code}: ${log}`)));
  });
});
after(() => {
  clearInterval(sampling);
  engine?.kill();
});

/** Notes the most memory that the engine's process has had. A process that has ended tells it no more. */
function samplePeak() {
  try {
    peak = readFileSync(`/proc/${engine.pid}/status`, 'utf8').match(/^VmHWM:\s*(.+)$/m)?.[1] ?? peak;
  } catch {
    // It has ended, or the platform has no such file.
  }
}

/** Tells what has become of the engine: how its process has ended, the most memory that it had, and what it printed. */
async function fate() {
  const ended = () => engine.exitCode ?? engine.signalCode;
  if (ended() === null) await Promise.race([new Promise((done) => engine.once('close', done)), new Promise((done) => setTimeout(done, 5000))]);
  const end = ended() === null ? 'the engine runs' : `the engine has ended with code ${engine.exitCode}, signal ${engine.signalCode}`;
  return `${end}, peak memory ${peak || 'unknown'}: ${log}`;
}

/** @throws Error with what has become of the engine */
async function ask(path, init) {
  try {
    return await fetch(url + path, init);
  } catch (error) {
    throw new Error(`${path}: ${error.cause ?? error}: ${await fate()}`);
  }
}

/** Types a line into a terminal of its own, and resolves when it has printed what is expected. */
async function types(line, expected) {
  const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ columns: 200, rows: 50 }) };
  const { id } = await (await ask('/kubetab/terminals', json)).json();
  // It is read from now on: Node ends the body of an answer that is collected as garbage before anyone reads it.
  const output = (await ask(`/kubetab/terminals/${id}/output`)).body.pipeThrough(new TextDecoderStream());
  await ask(`/kubetab/terminals/${id}/input`, { method: 'POST', body: `${line}\n` });
  let screen = '';
  try {
    for await (const text of output) {
      screen += text;
      if (!expected.test(screen)) continue;
      await ask(`/kubetab/terminals/${id}`, { method: 'DELETE' });
      return;
    }
  } catch {
    // The engine has ended.
  }
  assert.fail(`${line}: the terminal has ended after ${JSON.stringify(screen.slice(-2000))}: ${await fate()}`);
}

const doubling = ['jq -n \'"x" | until(false; . + .) | length\'', 'x=x; for ((;;)); do x=$x$x; done', 'x=x; while true; do x=$x$x; done'];
const stopped = /cannot allocate memory/;

// Each alone took 4 GB of the tab, and with it the API server, where the machine was slow or the order of goroutines bad.
// Several at once did so, too, as long as each counted what the others held among what was there when it began. The last
// two take all of it in a single step.
test('what doubles is stopped before the engine has no more memory', { skip, timeout: 900_000 }, async (t) => {
  const steps = [`x=$(head -c 20000000 /dev/zero | tr '\\0' x); y=${'$x'.repeat(116)}`, "x=$(head -c 200000 /dev/zero | tr '\\0' x); echo ${x//x/$x} | wc -c"];
  for (const line of [...doubling, ...steps]) await types(line, stopped);
  await Promise.all([...doubling, ...steps].map((line) => types(line, stopped)));
  await types('kubectl get ns default -o name', /namespace\/default/);
  assert.equal(await (await ask('/readyz')).text(), 'ok', log);
  t.diagnostic(`peak memory of the engine's process: ${peak || 'unknown'}`);
});

// A line that reads files has JavaScript call Go within a call of Go's. Where collections of garbage made goroutines wait
// in such a call, each went on with another one's stack, and the engine ended: in each of five runs within 40 s.
test('lines that read files go on beside lines that double', { skip, timeout: 900_000 }, async () => {
  for (let round = process.env.KUBETAB_EVERY_LINE === '1' ? 40 : 4; round > 0; round--) {
    let isOver = false;
    const short = Array.from({ length: 3 }, async (_, i) => {
      while (!isOver) await types(`echo h""i > f${i}; cat f${i}`, /hi/);
    });
    await Promise.all(doubling.map((line) => types(line, stopped)));
    isOver = true;
    await Promise.all(short);
  }
  assert.equal(await (await ask('/readyz')).text(), 'ok', log);
});
