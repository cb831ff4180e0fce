// Builds web/client/dist, what the package @kubetab/client has in it: `npm pack` does so first.
import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { libraryConfig } from './config.mjs';

const web = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const outDir = join(web, 'client/dist');
const types = join(outDir, 'types');

await rm(outDir, { recursive: true, force: true });
const entry = 'src/embed/client.ts';
await build(libraryConfig({ entry, format: 'es', outDir, fileName: 'index.js', minify: false }));
execFileSync('npx', ['tsc', '-p', join(web, 'tsconfig.client.json'), '--outDir', types], {
  cwd: web,
  stdio: ['ignore', 2, 2], // npm reads what is printed while it packs
});
// Node's rules for modules want the extension of a file, which a bundler does not.
for (const file of await readdir(types, { recursive: true })) {
  if (!file.endsWith('.d.ts')) continue;
  const path = join(types, file);
  const text = await readFile(path, 'utf8');
  const isFolder = (name) => name.endsWith('/client') && name.startsWith('../');
  await writeFile(
    path,
    text.replace(/(from '|import\(')(\.[^']*)'/g, (_, before, name) =>
      isFolder(name) ? `${before}${name}/index.js'` : `${before}${name}.js'`,
    ),
  );
}
