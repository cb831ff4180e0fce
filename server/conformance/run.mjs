#!/usr/bin/env node
// Runs Kubernetes' own conformance tests (k8s.io/kubernetes/test/e2e, those marked [Conformance]) against bin/kubetab.
//
//   node server/conformance/run.mjs [--focus REGEXP] [--serial] [--procs N] [--update]
//
//   --focus REGEXP  only the tests whose names match
//   --serial        those that must have a cluster for themselves, one after the other; without it, the others
//   --procs N       how many run at once: they wait most of the time (6 for each processor)
//   --update        write failing.txt anew: the lines that are no longer true go, and what fails is added under "new"
//
// failing.txt names the tests that are known to fail, below a line that says why. It exits with 1 when another one fails,
// and when one of these passes. The build takes some minutes when it is cold, the run 10.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const here = import.meta.dirname;
const root = resolve(here, '../..');
const out = join(root, 'build/conformance');
const list = join(here, 'failing.txt');

const { values: options } = parseArgs({
  options: {
    focus: { type: 'string' },
    serial: { type: 'boolean', default: false },
    procs: { type: 'string', default: String(6 * availableParallelism()) },
    update: { type: 'boolean', default: false },
  },
});

/** What failing.txt says; nothing where there is none. */
const text = existsSync(list) ? readFileSync(list, 'utf8') : '';

/** Names of tests that are known to fail. */
function known() {
  const lines = text.split('\n').map((line) => line.trim());
  return new Set(lines.filter((line) => line && !line.startsWith('# ')));
}

function build() {
  mkdirSync(out, { recursive: true });
  const go = (...args) => execFileSync('go', ['-C', here, ...args], { stdio: 'inherit' });
  go('test', '-c', '-vet=off', '-o', join(out, 'e2e.test'), 'k8s.io/kubernetes/test/e2e');
  go('build', '-o', join(out, 'ginkgo'), 'github.com/onsi/ginkgo/v2/ginkgo');
}

/** Starts the server, and returns its kubeconfig and what ends it. */
async function serve(folder) {
  const kubeconfig = join(folder, 'kubeconfig');
  const args = ['serve', '--listen', '127.0.0.1:0', '--http', '', '--nodes', '3', '--kubeconfig', kubeconfig];
  const server = spawn(join(root, 'bin/kubetab'), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((begun, failed) => {
    server.stdout.once('data', begun);
    server.once('exit', (code) => failed(new Error(`the server ended with ${code}`)));
  });
  return { kubeconfig, stop: () => server.kill() };
}

/** Runs the tests and returns what became of each that was run, by name. */
async function run(kubeconfig, report) {
  const args = [
    `--procs=${options.serial ? 1 : options.procs}`, '--no-color', '--keep-going', '--timeout=3h', `--json-report=${report}`, `--output-dir=${out}`,
    `--focus=${options.focus ?? '\\[Conformance\\]'}`,
    ...(options.serial ? ['--label-filter=Conformance && (Serial || Disruptive)'] : ['--label-filter=Conformance && !Serial && !Disruptive']),
    join(out, 'e2e.test'), '--', '-kubeconfig', kubeconfig, '-provider', 'skeleton', '-kubectl-path', join(root, 'bin/kubectl'),
  ]; // prettier-ignore
  const log = join(out, 'log.txt');
  const ginkgo = spawn('sh', ['-c', 'exec "$0" "$@" > "$LOG" 2>&1', join(out, 'ginkgo'), ...args], { env: { ...process.env, LOG: log, KUBECONFIG: kubeconfig }, stdio: 'inherit' });
  await new Promise((ended) => ginkgo.once('close', ended));
  const states = new Map();
  for (const suite of JSON.parse(readFileSync(join(out, report), 'utf8'))) {
    for (const spec of suite.SpecReports ?? []) {
      if (spec.LeafNodeType !== 'It' || spec.State === 'skipped') continue;
      states.set([...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' '), spec.State);
    }
  }
  console.log(`the whole log: ${log}`);
  return states;
}

build();
const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
const server = await serve(folder);
let states;
try {
  states = await run(server.kubeconfig, 'report.json');
} finally {
  server.stop();
  rmSync(folder, { recursive: true });
}

const expected = known();
const failed = [...states].filter(([, state]) => state !== 'passed').map(([name]) => name);
const added = failed.filter((name) => !expected.has(name)).sort();
const mended = [...expected].filter((name) => states.get(name) === 'passed').sort();
console.log(`${states.size - failed.length} of ${states.size} pass`);
for (const name of added) console.log(`fails: ${name}`);
for (const name of mended) console.log(`passes, and failing.txt has it: ${name}`);
if (options.update) {
  const kept = text.split('\n').filter((line) => !mended.includes(line.trim()));
  writeFileSync(list, kept.join('\n') + (added.length > 0 ? `\n# new\n${added.join('\n')}\n` : ''));
} else if (added.length + mended.length > 0 || states.size === 0) {
  process.exitCode = 1;
}
