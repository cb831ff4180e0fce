// What scripts/times makes of the steps of a run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const times = fileURLToPath(new URL('times', import.meta.url));
/** A step is measured at 100 s of a processor. */
const BUDGET = 150;

/** What becomes of a run whose steps take so many seconds of a processor. */
function timesOf(t, steps, budget = Object.fromEntries(Object.keys(steps).map((name) => [name, BUDGET]))) {
  const folder = mkdtempSync(join(tmpdir(), 'times-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'build/log'), { recursive: true });
  writeFileSync(join(folder, 'time-budget.json'), JSON.stringify({ about: '', cached: [], ...budget }));
  const lines = Object.entries(steps).map(([name, seconds], i) => `${1000 * (i + 1)} ${seconds} ${seconds} 0 0 ${name}\n`);
  writeFileSync(join(folder, 'build/log/steps'), lines.join(''));
  const { status, stdout } = spawnSync(process.execPath, [times, folder], { encoding: 'utf8' });
  return { status, stdout };
}

const usual = { a: 100, b: 100, c: 100, d: 100, e: 100 };

test('a run as it was measured passes, and nothing is said of it', (t) => {
  const { status, stdout } = timesOf(t, usual);
  assert.equal(status, 0);
  assert.doesNotMatch(stdout, /OVER|budget of processor time/);
});

test('a step over its budget is named; one that is over it by half fails', (t) => {
  const named = timesOf(t, { ...usual, e: 220 });
  assert.equal(named.status, 0);
  assert.match(named.stdout, /e {2}OVER[^]*Over the budget of processor time, which a slow hour may be the cause of: e\./);
  const failed = timesOf(t, { ...usual, e: 230 });
  assert.equal(failed.status, 1);
  assert.match(failed.stdout, /Far over the budget of processor time: e\./);
});

test('what makes all steps slower passes, and one that is slower still does not', (t) => {
  const slow = Object.fromEntries(Object.keys(usual).map((name) => [name, 300]));
  assert.equal(timesOf(t, slow).status, 0);
  assert.equal(timesOf(t, { ...slow, e: 700 }).status, 1);
});

test('a step without a line fails, and one whose line is null does not', (t) => {
  const { e, ...others } = Object.fromEntries(Object.keys(usual).map((name) => [name, BUDGET]));
  const failed = timesOf(t, usual, others);
  assert.equal(failed.status, 1);
  assert.match(failed.stdout, /Without a line in time-budget\.json: e\./);
  assert.equal(timesOf(t, { ...usual, e: 9000 }, { ...others, e: null }).status, 0);
});
