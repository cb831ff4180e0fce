// Builds the test engine (testengine/main_js.go) once per test file; the go command keeps what is compiled.

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
  run('go', 'run', './wasm/patch');
  mkdirSync(dir, { recursive: true });
  run(join(root, 'build', 'patch', 'go'), 'build', '-o', wasm, './wasm/host/testengine');
  copyFileSync(join(run('go', 'env', 'GOROOT').trim(), 'lib', 'wasm', 'wasm_exec.js'), join(dir, 'wasm_exec.js'));
  return wasm;
}

/** Resolves when the condition holds; rejects after ten seconds. */
export async function until(what, condition) {
  for (const start = Date.now(); !(await condition()); await new Promise((done) => setTimeout(done, 2))) {
    if (Date.now() - start > 10_000) throw new Error(`never: ${what}`);
  }
}
