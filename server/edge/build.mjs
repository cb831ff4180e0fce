#!/usr/bin/env node
// build lays out the edge Worker: build.mjs FOLDER. Plain Go compiles the store, without the patches that the engine needs.
// The host takes the folder as modules; server/edge/wrangler.toml names the bindings.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { originsIn, rulesWith } from '../../web/headers/headers.mjs';

const here = import.meta.dirname;
const root = join(here, '../..');
const folder = resolve(process.argv[2] ?? join(root, 'build/edge'));
const store = join(folder, 'store');

rmSync(folder, { recursive: true, force: true });
mkdirSync(dirname(store), { recursive: true });
const run = (command, args, env = {}) =>
  execFileSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
run('go', ['run', 'github.com/syumai/workers/cmd/workers-assets-gen', '-mode=go', `-o=${store}`]);
const js = { GOOS: 'js', GOARCH: 'wasm' };
const wasm = join(store, 'app.wasm');
run('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', wasm, './server/edge'], js);
copyFileSync(join(here, 'worker.mjs'), join(folder, 'worker.mjs'));

// The rules of web/headers, as a module that reads no file.
const rules = JSON.stringify(rulesWith(originsIn(process.env.KUBETAB_FETCH_FROM)), null, 2);
writeFileSync(
  join(folder, 'headers.mjs'),
  `const rules = ${rules}.map(({ files, headers }) => ({ files: new RegExp(files), headers }));

export function headersOf(name) {
  const found = Object.assign({}, ...rules.filter(({ files }) => files.test(name)).map((r) => r.headers));
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== ''));
}
`,
);
