// Tells where the time goes in Chromium: in which thread, which Go packages and which functions.
//
//   node web/build/flame.mjs [--rounds 300] [--rate 5] [WHAT...]
//
// WHAT is start (a visit of who was here before, until the cluster is ready), get or create (of ConfigMaps by fetch, one
// after the other), watches (2,000 begun at once), fan-out (events for 200 watches, see load.mjs), or a line for the terminal, which is played three times: the first time
// costs what was never called.
//
// Run it in the folder of the project, built, with build/flame/names.json (make flame writes it). Of each WHAT and each
// thread a profile is left in build/flame, which the developer tools of browsers and speedscope show as a flame graph.
// --rounds: how many requests. --rate: how many samples a millisecond; more cost more.
//
// Of requests it says, too, what each hop takes: the timestamps of fetch in the page, and what the API server itself
// has measured (apiserver_request_duration_seconds).
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { launchSettled } from './chromium.mjs';
import { measureFanOut } from './load.mjs';
import { serveNative } from './native.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '300' },
    rate: { type: 'string', default: '5' },
  },
});
const rounds = Number(values.rounds);
const rate = Number(values.rate);
if (!(rounds > 0 && rate > 0)) {
  console.error(
    'usage: flame [--rounds 300] [--rate 5] [start|get|create|watches|fan-out|LINE...]',
  );
  process.exit(2);
}
const whats = positionals.length
  ? positionals
  : ['start', 'get', 'create', 'kubectl get pods -A', 'kubectl explain pod.spec'];

/** How many packages and functions a table has. */
const ROWS = 12;
const FOLDER = 'build/flame';
let lines = 0; // that have been played
const names = JSON.parse(await readFile(join(FOLDER, 'names.json'), 'utf8'));

await mkdir(FOLDER, { recursive: true });
const server = await serveNative();
const profile = await mkdtemp(join(tmpdir(), 'kubetab-flame-'));
try {
  await visit(async (page) => {
    await ready(page);
    // What the browser keeps of compiled code it writes some seconds after the start, and only then.
    await new Promise((resolve) => setTimeout(resolve, 8000));
  });
  for (const what of whats) await visit((page) => look(what, page));
} finally {
  server.close();
  await rm(profile, { recursive: true, force: true });
}

async function visit(act) {
  const page = await launchSettled(profile);
  try {
    await act(page);
  } finally {
    await page.close();
  }
}

async function ready(page) {
  await page.goto(server.url);
  await page.evaluate(async () => {
    while (!document.querySelector('.pill.is-ready')) await new Promise(requestAnimationFrame);
    await navigator.serviceWorker.ready;
  });
}

async function look(what, page) {
  if (what === 'start') {
    await report(what, await page.profile(rate, () => ready(page)));
    return;
  }
  await ready(page);
  if (what === 'watches') {
    const profiles = await page.profile(rate, () => page.evaluate(beginWatches, 2000));
    await report(what, profiles);
    return;
  }
  if (what === 'fan-out') {
    await report(what, await page.profile(rate, () => measureFanOut(page)));
    return;
  }
  if (what !== 'get' && what !== 'create') {
    await openTerminal(page);
    for (const time of ['first', 'second', 'third']) {
      const profiles = await page.profile(rate, () => play(page, what));
      await report(`${what}, for the ${time} time`, profiles);
    }
    return;
  }
  // The cluster is the same on each visit, so each WHAT has names of its own.
  await page.evaluate(askMany, 'create', 20, `warm-${what}`);
  await page.evaluate(askMany, 'get', 20, `warm-${what}`);
  if (what === 'get') await page.evaluate(askMany, 'create', rounds, 'got');
  const before = await page.evaluate(measuredByServer, what);
  const plain = await page.evaluate(askMany, what, rounds, what === 'get' ? 'got' : 'created');
  const after = await page.evaluate(measuredByServer, what);
  hops(what, plain, (after.seconds - before.seconds) / (after.count - before.count));
  // Once more for the profile alone: a profiler takes its share of each hop.
  const profiled = () => page.evaluate(askMany, what, rounds, what === 'get' ? 'got' : 'profiled');
  await report(`${rounds} of ${what}`, await page.profile(rate, profiled));
}

/** Runs in the page: begins watches, and resolves when all have begun. */
async function beginWatches(n) {
  await Promise.all(Array.from({ length: n }, () => fetch('api/v1/pods?watch=true')));
}

/** Runs in the page: asks for, or creates, n ConfigMaps, and tells the mean of each hop in milliseconds. */
async function askMany(what, n, name) {
  const path = 'api/v1/namespaces/default/configmaps';
  performance.clearResourceTimings();
  performance.setResourceTimingBufferSize(n);
  const took = [];
  for (let i = 0; i < n; i++) {
    const began = performance.now();
    const answer =
      what === 'get'
        ? await fetch(`${path}/${name}-${i}`)
        : await fetch(path, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ metadata: { name: `${name}-${i}` }, data: { key: 'value' } }),
          });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${what} ${i}: ${answer.status} ${text}`);
    took.push(performance.now() - began);
  }
  const mean = (of) => of.reduce((sum, ms) => sum + ms, 0) / of.length;
  const entries = performance.getEntriesByType('resource').filter((e) => e.name.includes(path));
  const between = (from, to) => mean(entries.map((e) => e[to] - e[from]));
  return {
    mean: mean(took),
    p50: took.sort((a, b) => a - b)[Math.floor(n / 2)],
    toWorker: between('startTime', 'fetchStart'),
    toHead: between('fetchStart', 'responseStart'),
    toEnd: between('responseStart', 'responseEnd'),
  };
}

/** Runs in the page: what the API server has measured of requests for ConfigMaps until now. */
async function measuredByServer(what) {
  const text = await (await fetch('metrics')).text();
  const verb = what === 'get' ? 'GET' : 'POST';
  const sum = (name) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`))
      .filter((line) => line.includes('resource="configmaps"') && line.includes(`verb="${verb}"`))
      .reduce((all, line) => all + Number(line.split(' ').at(-1)), 0);
  return {
    seconds: sum('apiserver_request_duration_seconds_sum'),
    count: sum('apiserver_request_duration_seconds_count'),
  };
}

function hops(what, { mean, p50, toWorker, toHead, toEnd }, seconds) {
  const inServer = seconds * 1000;
  console.log(`\n${what} by fetch, mean of ${rounds} (p50 ${p50.toFixed(2)} ms)`);
  const row = (words, ms) => console.log(`  ${words.padEnd(58)}${ms.toFixed(2).padStart(8)} ms`);
  row('page to service worker', toWorker);
  row('service worker to engine, and back until status and headers', toHead - inServer);
  row('in the handlers of the API server', inServer);
  row('the body', toEnd);
  row('until the page goes on', mean - toWorker - toHead - toEnd);
  row('in all', mean);
}

async function openTerminal(page) {
  await page.evaluate(async () => {
    while (!document.querySelector('.terminal .xterm-helper-textarea')) {
      await new Promise(requestAnimationFrame);
    }
    const shown = () => document.querySelector('.terminal .xterm-rows').textContent;
    while (!/\$\s/.test(shown())) await new Promise(requestAnimationFrame);
    document.querySelector('.xterm-helper-textarea').focus();
  });
}

async function play(page, line) {
  const done = `done-${++lines}`;
  await page.type(`clear; ${line}; echo done-$((${lines}))\r`);
  await page.evaluate(async (word) => {
    const shown = () => document.querySelector('.terminal .xterm-rows').textContent;
    while (!shown().includes(word)) await new Promise(requestAnimationFrame);
  }, done);
}

/** Names what the profiles have numbers of, writes them, and prints what took most. */
async function report(what, profiles) {
  console.log(`\n${what}`);
  for (const { thread, profile } of profiles) {
    for (const { callFrame } of profile.nodes) callFrame.functionName = nameOf(callFrame);
    const file = `${what}-${thread}`.replace(/[^a-z0-9]+/gi, '-');
    await writeFile(join(FOLDER, `${file}.cpuprofile`), JSON.stringify(profile));
    print(thread, profile);
  }
}

/** A function of the module has no name but its number in its part. */
function nameOf({ functionName, url }) {
  const number = /^wasm-function\[(\d+)\]$/.exec(functionName)?.[1];
  return names[url.match(/\b(soon|rest)\b/)?.[1] ?? 'engine'][number] ?? functionName;
}

/** Of a function's name, or of a script's. */
function packageOf({ functionName, url }) {
  if (functionName.startsWith('(')) return functionName; // (program), (idle), (garbage collector)
  if (!/^wasm:|\.wasm/.test(url)) return `JavaScript ${url.split('/').at(-1)}`.trim();
  const slash = functionName.lastIndexOf('/') + 1;
  const dot = functionName.indexOf('.', slash);
  return dot < 0 ? functionName : functionName.slice(0, dot);
}

function print(thread, { nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const packages = new Map();
  const functions = new Map();
  const add = (to, key, ms) => to.set(key, (to.get(key) ?? 0) + ms);
  let busy = 0;
  samples.forEach((id, i) => {
    const frame = byId.get(id);
    const ms = timeDeltas[i] / 1000;
    if (frame.functionName === '(idle)' || frame.functionName === '(program)') return; // waits, or is the browser's
    busy += ms;
    add(packages, packageOf(frame), ms);
    add(functions, frame.functionName, ms);
  });
  if (busy < 1) return;
  console.log(`  ${thread}: ${busy.toFixed(0)} ms busy`);
  const most = (of) => [...of].sort((a, b) => b[1] - a[1]).slice(0, ROWS);
  const left = most(packages);
  const right = most(functions);
  const cell = (row) => (row ? `${row[1].toFixed(0).padStart(6)} ms ${row[0]}` : '');
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    console.log(`  ${cell(left[i]).padEnd(62)} ${cell(right[i])}`.trimEnd());
  }
}
