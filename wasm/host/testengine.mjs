// Builds the test engine (testengine/main_js.go), as a program or for a test file. Who runs several files at once builds it
// before and sets KUBETAB_TESTENGINE=built: a file must not read what another one writes.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Returns the path of the module, with wasm_exec.js beside it. Throws when it does not build. */
export function buildTestEngine() {
  const run = (command, ...args) => execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const dir = join(root, 'build', 'testengine');
  const wasm = join(dir, 'testengine.wasm');
  if (process.env.KUBETAB_TESTENGINE === 'built') return wasm;
  run('go', 'run', './wasm/patch');
  mkdirSync(dir, { recursive: true });
  run(join(root, 'build', 'patch', 'go'), 'build', '-o', wasm, './wasm/host/testengine');
  copyFileSync(join(run('go', 'env', 'GOROOT').trim(), 'lib', 'wasm', 'wasm_exec.js'), join(dir, 'wasm_exec.js'));
  return wasm;
}

/** Milliseconds until something that should happen has not: for what hangs, not for what is slow. */
const PATIENCE = 240_000;

/** Resolves when the condition holds; rejects after PATIENCE. */
export async function until(what, condition) {
  for (const start = Date.now(); !(await condition()); await new Promise((done) => setTimeout(done, 2))) {
    if (Date.now() - start > PATIENCE) throw new Error(`never: ${what}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildTestEngine();
