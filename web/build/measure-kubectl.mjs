// Measures in Chromium how long lines of the terminal take, from the Enter key until the prompt is back. Prints a table.
//
//   node web/build/measure-kubectl.mjs [--rounds 3] [--times 5] [--json]
//
// In the folder of the project, built. A round is a visit of who was here before, in a browser started anew. Lines are typed
// as soon as the cluster is ready. The first time has a column of its own: a browser then compiles what was never called, and
// kubectl asks for what it keeps later.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { launchSettled } from './chromium.mjs';
import { serveNative } from './native.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    times: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const times = Number(values.times);
if (!(rounds > 0 && times > 1)) {
  console.error('usage: measure-kubectl [--rounds 3] [--times 5] [--json]');
  process.exit(2);
}

/** What is typed, in this order; N is how often it has been typed in this profile. */
const LINES = [
  { line: 'kubectl get pods -A' },
  { line: 'kubectl create deployment web-N --image=nginx' },
  { line: 'kubectl explain pod.spec' },
  {
    line: 'kubectl apply -f hundred.yaml',
    words: '100 ConfigMaps, new',
    before: hundred,
    once: true,
  },
  { line: 'kubectl apply -f hundred.yaml', words: '100 ConfigMaps, unchanged', once: true },
  {
    line: 'kubectl apply -f hundred.yaml',
    words: '100 ConfigMaps, changed',
    before: () => `sed -i 's/value/other/' hundred.yaml`,
    once: true,
  },
];

/** A file with ConfigMaps that no earlier round has applied. */
function hundred(n) {
  const object = String.raw`---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c-${n}-%s}\ndata: {a: value}\n`;
  return `for i in $(seq 100); do printf -- '${object}' $i; done > hundred.yaml`;
}

let typed = 0;
const took = LINES.map(() => ({ first: [], later: [] }));
const server = await serveNative();
const profile = await mkdtemp(join(tmpdir(), 'kubetab-kubectl-'));
try {
  await visit(async () => {
    // What the browser keeps of compiled code it writes some seconds after the start, and only then.
    await new Promise((resolve) => setTimeout(resolve, 8000));
  });
  for (let round = 0; round < rounds; round++) await visit(typeAll);
} finally {
  server.close();
  await rm(profile, { recursive: true, force: true, maxRetries: 10 });
}
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
if (values.json) {
  console.log(
    JSON.stringify(
      LINES.map(({ line, words }, i) => ({ line, words, ...took[i] })),
      null,
      2,
    ),
  );
} else {
  console.log(`from Enter until the prompt, ${rounds} rounds, median in ms`);
  console.log(`${''.padEnd(50)}${'first'.padStart(8)}${'later'.padStart(8)}`);
  LINES.forEach(({ line, words }, i) => {
    const cell = (list) => (list.length ? median(list).toFixed(0) : '').padStart(8);
    console.log(`${(words ?? line).padEnd(50)}${cell(took[i].first)}${cell(took[i].later)}`);
  });
}

async function visit(act) {
  const page = await launchSettled(profile);
  try {
    await page.goto(server.url);
    await page.evaluate(async () => {
      while (!document.querySelector('.pill.is-ready')) await new Promise(requestAnimationFrame);
      const shown = () => document.querySelector('.terminal .xterm-rows')?.textContent ?? '';
      while (!/\$\s/.test(shown())) await new Promise(requestAnimationFrame);
      document.querySelector('.xterm-helper-textarea').focus();
    });
    await act(page);
  } finally {
    await page.close();
  }
}

async function typeAll(page) {
  for (const [i, { line, before, once }] of LINES.entries()) {
    if (before) await enter(page, before(++typed));
    for (let time = 0; time < (once ? 1 : times); time++) {
      const ms = await enter(page, line.replace('N', `${++typed}`));
      took[i][time === 0 ? 'first' : 'later'].push(ms);
    }
  }
}

/** Types a line, and tells how many milliseconds after Enter the prompt is back. */
async function enter(page, line) {
  await page.type(`\f${line}`); // Ctrl L: the line is the first of the screen
  await page.evaluate(async (end) => {
    const row = () => document.querySelector('.terminal .xterm-rows').textContent;
    while (!row().includes(end)) await new Promise(requestAnimationFrame);
    window.lineTook = new Promise((resolve) => {
      document.addEventListener(
        'keydown',
        async () => {
          const began = performance.now();
          const last = () =>
            [...document.querySelectorAll('.terminal .xterm-rows > div')]
              .map((div) => div.textContent.trimEnd())
              .findLast((text) => text !== '');
          while (!/^~ \$$/.test(last())) await new Promise(requestAnimationFrame);
          resolve(performance.now() - began);
        },
        { once: true, capture: true },
      );
    });
  }, line.slice(-20));
  await page.type('\r');
  return page.evaluate(() => window.lineTook);
}
