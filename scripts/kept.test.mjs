// What has passed is not run again as long as nothing changes that it depends on.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';

const kept = join(import.meta.dirname, 'kept');
const folder = mkdtempSync(join(tmpdir(), 'kept-'));
after(() => rmSync(folder, { recursive: true }));

let tree;
let runs;
beforeEach(() => {
  tree = mkdtempSync(join(folder, 'tree-'));
  execFileSync('git', ['init', '-q'], { cwd: tree });
  for (const name of ['code', 'docs', 'bin']) mkdirSync(join(tree, name));
  for (const name of ['code/a', 'docs/b', 'bin/program']) writeFileSync(join(tree, name), name);
  writeFileSync(join(tree, '.gitignore'), 'bin\n');
  runs = join(tree, '.git/runs');
  writeFileSync(runs, '');
});

/** Runs the tests and returns how they end, what they say, and how often they have run by now. */
function run({ inputs = '. :!docs', env = {}, script = 'echo run >> .git/runs' } = {}) {
  const { status, stdout, stderr } = spawnSync(kept, [inputs, '--', 'sh', '-c', script], {
    cwd: tree,
    encoding: 'utf8',
    env: { ...process.env, XDG_CACHE_HOME: join(tree, '.git/cache'), CHROMIUM: 'none', FRESH: '', ...env },
  });
  assert.equal(stderr, '');
  return { status, stdout, runs: readFileSync(runs, 'utf8').trim().split('\n').filter(Boolean).length };
}

test('what has passed is told and not run again', () => {
  assert.deepEqual(run(), { status: 0, stdout: '', runs: 1 });
  const again = run();
  assert.match(again.stdout, /^passed with the same inputs on \d{4}-\d\d-\d\d at \d\d:\d\d UTC; FRESH=1 runs it again\n$/);
  assert.deepEqual([again.status, again.runs], [0, 1]);
  assert.equal(run({ env: { FRESH: '1' } }).runs, 2);
});

test('it is run again when what it depends on has changed', () => {
  run();
  appendFileSync(join(tree, 'code/a'), 'changed');
  assert.equal(run().runs, 2);
  writeFileSync(join(tree, 'code/new'), '');
  assert.equal(run().runs, 3);
  rmSync(join(tree, 'code/a'));
  assert.equal(run().runs, 4);
  appendFileSync(join(tree, 'bin/program'), 'built anew');
  assert.equal(run().runs, 5);
  assert.equal(run({ env: { KUBETAB_EVERY_LINE: '1' } }).runs, 6);
  assert.equal(run({ script: 'echo run >> .git/runs; true' }).runs, 7);
  appendFileSync(join(tree, 'docs/b'), 'changed');
  assert.equal(run().runs, 7);
});

test('what has failed is run again, and ends as it does', () => {
  const script = 'echo run >> .git/runs; exit 3';
  assert.deepEqual(run({ script }), { status: 3, stdout: '', runs: 1 });
  assert.deepEqual(run({ script }), { status: 3, stdout: '', runs: 2 });
  assert.ok(existsSync(join(tree, '.git/cache/kubetab/passed')));
});
