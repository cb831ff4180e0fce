// What calculates gives way to requests, and ends when it is told to. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { sit } from './seat.mjs';
import { buildTestEngine, root, until } from './testengine.mjs';

const built = resolve(root, process.env.KUBETAB_WASM ?? 'build/wasm');
const snapshot = join(built, 'kubetab.snapshot');
const skip = (!existsSync(snapshot) && 'there is no snapshot') || (!existsSync('/proc/self/schedstat') && 'the system does not tell for how long threads run');

/**
 * How long the thread may be held at once, in ms of the thread. On a quiet machine it is what is promised; beside other work, V8
 * compiles and collects in the midst of it.
 */
const MOST = process.env.KUBETAB_TIMING === '1' ? 50 : 200;

/** The engine that the tests share. */
let engine;
let url;

before(async () => {
  if (skip) return;
  engine = await spawned('--wasm', `${built}/kubetab.wasm`, '--snapshot', snapshot);
  url = engine.url;
});
after(() => engine?.kill());

/**
 * Starts an engine in a process of its own. Its ran() tells for how long it has run since the last call, at once and in all, in ms.
 *
 * @returns {Promise<{url: string, ran(): Promise<{longest: number, all: number}>, log(): string, kill(): void}>}
 */
async function spawned(...args) {
  const held = join(import.meta.dirname, 'held.mjs');
  const child = spawn(process.execPath, ['--import', held, 'wasm/host/serve.mjs', ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let log = '';
  child.stderr.on('data', (text) => (log = (log + text).slice(-10_000)));
  const url = await new Promise((found, reject) => {
    child.stdout.once('data', (text) => found(String(text).trim().split(' ')[1]));
    child.once('close', (code) => reject(new Error(`ended with ${code}: ${log}`)));
  });
  const ran = async () => {
    const answer = once(child, 'message');
    child.send('');
    return (await answer)[0];
  };
  return { url, ran, log: () => log, kill: () => child.kill() };
}

async function send(method, path, body, type = 'application/json') {
  const response = await fetch(url + path, { method, headers: { 'content-type': type }, body: body && JSON.stringify(body) });
  return { status: response.status, body: await response.text() };
}

/** Creates an object. @throws Error when it is refused */
async function create(path, body) {
  const answer = await send('POST', path, body);
  assert.ok(answer.status < 300, `${path}: ${answer.body}`);
  return answer;
}

/**
 * Fails unless work takes much of the thread, and never much at once. It is done twice, and looked at the second time: the
 * first has V8 compile, and may bring a part of the module.
 */
async function givesWay(t, work) {
  await work();
  await engine.ran();
  await work();
  await wasGivenWay(t, engine);
  assert.equal((await send('GET', '/readyz')).body, 'ok', engine.log());
}

/** Fails unless an engine has taken much of its thread since it was asked last, and never much at once. */
async function wasGivenWay(t, { ran }) {
  const { longest, all } = await ran();
  t.diagnostic(`the engine ran for ${all.toFixed()} ms, ${longest.toFixed()} at once`);
  assert.ok(all > 1.5 * MOST, `it took ${all} ms: too little to hold the thread for too long`);
  assert.ok(longest < MOST, `the thread was held for ${longest} ms of ${all}`);
}

const NUMBERS = JSON.stringify(Array.from({ length: 300 }, (_, i) => i));
/** CEL that is true, and costs more than half of what upstream lets an expression cost. */
const EXPENSIVE = `${NUMBERS}.all(a, ${NUMBERS}.all(b, a + b >= 0))`;

test('an admission policy', { skip }, async (t) => {
  const policies = '/apis/admissionregistration.k8s.io/v1';
  await create(`${policies}/validatingadmissionpolicies`, {
    metadata: { name: 'expensive' },
    spec: {
      matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }] },
      matchConditions: [{ name: 'own', expression: "object.metadata.name.startsWith('expensive')" }],
      validations: [{ expression: EXPENSIVE }, { expression: "object.metadata.name != 'expensive-no'" }],
    },
  });
  await create(`${policies}/validatingadmissionpolicybindings`, { metadata: { name: 'expensive' }, spec: { policyName: 'expensive', validationActions: ['Deny'] } });
  const ask = (name) => send('POST', '/api/v1/namespaces/default/configmaps?dryRun=All', { metadata: { name } });
  await until('the policy is in force', async () => (await ask('expensive-no')).status === 422);
  await givesWay(t, async () => {
    const answer = await ask('expensive');
    assert.equal(answer.status, 201, answer.body);
  });
});

test('rules of a custom resource', { skip }, async (t) => {
  const schema = { type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-validations': [{ rule: EXPENSIVE }] } } };
  const names = { plural: 'slows', singular: 'slow', kind: 'Slow', listKind: 'SlowList' };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }];
  await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'slows.turns.example' },
    spec: { group: 'turns.example', scope: 'Cluster', names, versions },
  });
  const path = '/apis/turns.example/v1/slows';
  await until('it is served', async () => (await send('GET', path)).status === 200);
  const slow = { apiVersion: 'turns.example/v1', kind: 'Slow', metadata: { name: 'slow' }, spec: {} };
  await givesWay(t, () => create(`${path}?dryRun=All`, slow));
});

test('a check of a lesson', { skip }, async (t) => {
  const text = { en: 'A check.', zh: '一项检查。' };
  const check = { id: 'slow', title: text, now: `configs.exists(c, c.data.on == 'yes') && ${EXPENSIVE}` };
  const lesson = {
    id: 'turns/slow',
    title: text,
    minutes: 1,
    covers: ['1-1'],
    namespace: 'turns',
    objects: { configs: 'configmaps' },
    steps: [{ id: 'slow', checks: [check], solution: ['true'] }],
  };
  const begun = await send('PUT', '/kubetab/lesson', { lesson });
  assert.equal(begun.status, 200, begun.body);
  const path = '/api/v1/namespaces/turns/configmaps';
  await create(path, { metadata: { name: 'switch' }, data: { on: 'no' } });
  const turn = async (on) => {
    await send('PATCH', `${path}/switch`, { data: { on } }, 'application/merge-patch+json');
    const isDone = async () => JSON.parse((await send('GET', '/kubetab/lesson')).body).steps[0].checks[0].done;
    await until(`the check is looked at with ${on}`, async () => (await isDone()) === (on === 'yes'));
  };
  await givesWay(t, async () => {
    await turn('yes');
    await turn('no');
  });
  await send('DELETE', '/kubetab/lesson');
});

test('a script in a Pod, which ends with it', { skip }, async (t) => {
  const path = '/api/v1/namespaces/default/pods';
  const script = `x=$(head -c $1 /dev/zero | tr '\\0' a); echo begun; [[ $x =~ (a|b)*c ]]; echo over`;
  const pod = async (name, bytes) => {
    const searching = { name: 'searching', image: 'bash', command: ['bash', '-c', script, 'bash', String(bytes)] };
    await create(path, { metadata: { name }, spec: { containers: [searching], restartPolicy: 'Never' } });
    await until(`${name} searches`, async () => (await send('GET', `${path}/${name}/log`)).body.startsWith('begun'));
  };
  const searches = async (name) => !(await send('GET', `${path}/${name}/log`)).body.includes('over');
  let name = 0;
  await givesWay(t, async () => {
    await pod(`busy-${++name}`, 3_000_000);
    await until('it has searched', async () => !(await searches(`busy-${name}`)));
  });
  await pod('ended', 20_000_000); // more than a second
  assert.ok(await searches('ended'));
  await engine.ran();
  await send('DELETE', `${path}/ended?gracePeriodSeconds=0`);
  let since = 0;
  await until('the engine rests', async () => {
    // A time to measure, and not to wait for something: a searching engine runs through all of it, and one that rests has the
    // looking at itself to do, which took 5 to 70 ms.
    await new Promise((done) => setTimeout(done, 400));
    const { all } = await engine.ran();
    since += all;
    return all < 200;
  });
  t.diagnostic(`the engine ran for ${since.toFixed()} ms after the end of the Pod`);
  assert.ok(since < 1000, `it has searched for ${since} ms after its end`);
});

test('patterns in the terminal', { skip }, async (t) => {
  const seat = await sit({ fetch: (path, init) => fetch(url + path, init) });
  const plays = async () => {
    // What is not closed is literal. It took years, or hours, to find that out.
    assert.match(await seat.runs("p='@(@(@(@('; for i in {1..7}; do p=$p$p; done; [[ $p == $p ]] && echo sa\"\"me"), /same\r?\n[^]*code 0/);
    assert.match(await seat.runs("p=$(head -c 200000 /dev/zero | tr '\\0' '['); [[ a == $p ]] || echo ot\"\"her"), /other\r?\n[^]*code 0/);
    // A stack as deep as the pattern ended the engine.
    assert.match(await seat.runs("p='@('; for i in {1..19}; do p=$p$p; done; [[ a == $p ]]"), /the pattern is too complex/);
  };
  await givesWay(t, async () => {
    for (let i = 0; i < 3; i++) await plays();
  });
});

// Each piece that has been read is a reason to print more.
test('a line that prints without end', { skip }, async (t) => {
  const seat = await sit({ fetch: (path, init) => fetch(url + path, init) });
  await givesWay(t, async () => {
    await seat.types('while true; do echo y; done\n');
    for (let i = 0; i < 100; i++) assert.equal((await send('GET', '/readyz')).body, 'ok');
    await seat.types('\x03');
    await seat.sees(/\$ $/);
  });
});

// Who reads a watch shares the thread with who writes, and the API server ends a watch that has fallen behind.
test('a watch whose reader comes late has all events', { skip, timeout: 300_000 }, async (t) => {
  const path = '/api/v1/namespaces/default/configmaps';
  const stop = new AbortController();
  t.after(() => stop.abort());
  // It is kept: Node ends the body of an answer that is collected as garbage before anyone reads it.
  const watch = await fetch(`${url}${path}?watch=1&labelSelector=late`, { signal: stop.signal });
  const text = 'x'.repeat(200_000); // 15 MB in all: more than sockets hold
  const count = 75;
  for (let i = 0; i < count; i++) await create(path, { metadata: { name: `late-${i}`, labels: { late: '' } }, data: { text } });
  const names = [];
  let line = '';
  for await (const piece of watch.body.pipeThrough(new TextDecoderStream())) {
    const lines = (line + piece).split('\n');
    line = lines.pop();
    names.push(...lines.map((each) => JSON.parse(each).object.metadata.name));
    if (names.length === count) break;
  }
  assert.deepEqual(names, Array.from({ length: count }, (_, i) => `late-${i}`), 'before the watch has ended');
  for (let i = 0; i < count; i++) await send('DELETE', `${path}/late-${i}`);
});

// A line of the log is a call of JavaScript, which calls Go before it returns.
test('what writes to the log without end', { skip }, async (t) => {
  const logging = await spawned('--wasm', buildTestEngine());
  t.after(logging.kill);
  const open = []; // a response that nobody knows is cancelled
  for (let i = 0; i < 3; i++) open.push(await fetch(`${logging.url}/busy/logging`));
  const answers = async (count) => {
    for (let i = 0; i < count; i++) assert.equal(await (await fetch(`${logging.url}/readyz`)).text(), 'ok');
  };
  await answers(10); // while V8 compiles
  await logging.ran();
  await answers(100); // each after a turn of some milliseconds
  await wasGivenWay(t, logging);
  for (const { body } of open) await body.cancel();
});
