// Measures in Chromium what a first visit over a line of a given width waits for. Prints a table.
//
//   node web/build/measure-line.mjs [--mbit 20] [--rtt 40] [--rounds 5] [--json]
//
// In the folder of the project, built. Each round has a profile of its own. A line's figures are the median of the rounds,
// from the start of the navigation, the least and the most of them, and how many bytes had reached the visitor by then.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { launch } from './chromium.mjs';
import { openLine } from './line.mjs';
import { serveNative } from './native.mjs';

const { values } = parseArgs({
  options: {
    mbit: { type: 'string', default: '20' },
    rtt: { type: 'string', default: '40' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
});
const width = { mbit: Number(values.mbit), rtt: Number(values.rtt) };
if (!(width.mbit > 0 && width.rtt >= 0 && Number(values.rounds) > 0)) {
  console.error('usage: measure-line [--mbit 20] [--rtt 40] [--rounds 5] [--json]');
  process.exit(2);
}

/** What a visitor waits for, in its order, and how a page shows that it is there. */
const MOMENTS = {
  'frame visible': () => document.querySelector('.rail')?.getBoundingClientRect().height > 0,
  'terminal takes keys': () => document.querySelector('.terminal .xterm-helper-textarea') !== null,
  'first answer': async () => document.querySelector('.pill.is-ready') !== null,
  'kubectl prints': () =>
    /kube-system\s+Active/.test(document.querySelector('.terminal .xterm-rows')?.textContent ?? ''),
  // The module's second part, and all files of the page for visits without a network.
  'everything there': async () =>
    window.kubetab.state.stages.some(({ name }) => name === 'soon') &&
    (await caches.match(document.baseURI)) !== undefined,
};

const server = await serveNative();
const rounds = [];
try {
  for (let round = 0; round < Number(values.rounds); round++) rounds.push(await visit());
} finally {
  server.close();
}
if (values.json) {
  console.log(JSON.stringify({ ...width, rounds }, null, 2));
} else {
  const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
  console.log(
    `first visit, ${width.mbit} Mbit/s, ${width.rtt} ms there and back, ${rounds.length} rounds`,
  );
  for (const moment of Object.keys(MOMENTS)) {
    const ms = rounds.map((round) => round[moment].ms);
    const bytes = median(rounds.map((round) => round[moment].bytes));
    const spread = `${(Math.min(...ms) / 1000).toFixed(2)} to ${(Math.max(...ms) / 1000).toFixed(2)}`;
    const columns = [moment.padEnd(20), `${(median(ms) / 1000).toFixed(2)} s`.padStart(8)];
    console.log(...columns, `(${spread})`.padEnd(18), `${(bytes / 1e6).toFixed(2)} MB`.padStart(9));
  }
}

async function visit() {
  const profile = await mkdtemp(join(tmpdir(), 'kubetab-line-'));
  const line = await openLine(Number(new URL(server.url).port), width);
  const page = await launch(profile);
  try {
    const began = performance.now();
    await page.goto(`http://127.0.0.1:${line.port}/`);
    const found = {};
    for (const [moment, isThere] of Object.entries(MOMENTS)) {
      // The document may not have been exchanged yet when it is first asked.
      while (!(await page.evaluate(isThere).catch(() => false))) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      found[moment] = { ms: performance.now() - began, bytes: line.bytes() };
      if (moment === 'terminal takes keys') {
        await page.evaluate(() => document.querySelector('.xterm-helper-textarea').focus());
        await page.type('kubectl get namespaces\r');
      }
    }
    return found;
  } finally {
    await page.close();
    line.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  }
}
