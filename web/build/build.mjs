// Builds web/dist: the page, its workers, the lessons of tutorials/, and the wasm module and its snapshot beside them, each
// also as .br and .gz.
//
//   KUBETAB_BROTLI   brotli quality for module and snapshot, 1 to 11; 0 = compress nothing (default 9)
//   KUBETAB_TARGET   kind of static host; lays out build/site/<kind> instead of web/dist. See docs/hosting.md. Of two kinds with
//                    the same files, "plain pages", the page is built once
//   KUBETAB_FETCH_FROM
//                    origins of other sites that the page may fetch files from (default: those of web/headers/fetch-from.json).
//                    See docs/hosting.md
//   KUBETAB_WASM     folder that holds kubetab.wasm, kubetab.snapshot and wasm_exec.js (default build/wasm)
//
// The two are compressed once: the variants are kept in build/web under their hashes and copied from there.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import {
  copyFile,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzipSync,
} from 'node:zlib';
import { build, minifySync } from 'vite';
import { headersFile, metaPolicy, originsIn } from '../headers/headers.mjs';
import { libraryConfig, pageConfig, serviceWorkerConfig, TARGET } from './config.mjs';
import { faultsOf, LARGEST, list, TARGETS } from './layout.mjs';

const web = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const root = resolve(web, '..');
const [target = '', ...twins] = (process.env.KUBETAB_TARGET ?? '').split(' ').filter(Boolean);
const layout = TARGETS[target];
const isPacked = layout?.isPacked ?? false;
const folderOf = (name) => join(root, 'build/site', name);
const dist = target ? folderOf(target) : join(web, 'dist');
const wasmDir = resolve(root, process.env.KUBETAB_WASM ?? 'build/wasm');
const kept = join(root, 'build/web');
const fetchFrom = originsIn(process.env.KUBETAB_FETCH_FROM);
const quality = Number(process.env.KUBETAB_BROTLI ?? 9);
// Of the module. 9 takes four times as long as 6 and saves 2 %, of what only a browser without brotli asks for.
const gzipLevel = quality === 11 ? 9 : 6;

const began = Date.now();
const say = (words) => console.log(`web: ${words}`);
const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

function fail(words) {
  console.error(`web: ${words}`);
  process.exit(1);
}

if (!Number.isInteger(quality) || quality < 0 || quality > 11) {
  fail(`KUBETAB_BROTLI must be a number from 0 to 11, not "${process.env.KUBETAB_BROTLI}".`);
}
for (const name of [target, ...twins].filter(Boolean)) {
  if (!TARGETS[name]) {
    fail(`TARGET must be one of ${Object.keys(TARGETS).join(', ')}, not "${name}".`);
  }
  if (TARGETS[name].isPacked !== isPacked) fail(`${target} and ${name} are made of other files.`);
}
if (target && quality === 0) fail('A static host needs compressed files: BROTLI must not be 0.');
for (const name of ['kubetab.wasm', 'wasm_exec.js']) {
  if (!existsSync(join(wasmDir, name))) {
    fail(
      `${relative(root, join(wasmDir, name))} is missing. Run \`make wasm\` first, then build the page again.`,
    );
  }
}

const module = await prepare('wasm');
// Without a snapshot the page starts the engine from nothing.
const snapshot = existsSync(join(wasmDir, 'kubetab.snapshot')) ? await prepare('snapshot') : null;
// What wasm/split has cut off, unless the module is whole.
const [soon, rest] = [await cutOff('soon.wasm'), await cutOff('rest.wasm')];
const prepared = [module, snapshot, soon, rest].filter((file) => file !== null);
await forget();
const info = {
  ...module.info,
  sha256: module.sha256,
  ...(snapshot && { snapshot: snapshot.info }),
  ...(soon && { soon: soon.info }),
  ...(rest && { rest: rest.info }),
};
const shared = { module: info, packed: isPacked, wasmExec: join(wasmDir, 'wasm_exec.js') };

const lessonShares = new Map();
await build(pageConfig({ ...shared, outDir: dist, shares: lessonShares }));
const embedding = [
  'embed.html',
  'embed-early.js',
  'embed.js',
  'embed-client.js',
  'embed-codapi.js',
  'engine.js',
];
const files = (await list(dist)).filter(
  (file) => file !== 'index.html' && !file.startsWith('_') && !embedding.includes(file),
);
await buildEmbedding();
const lessons = await writeLessons();
await tellEarly();
// Hosts that send no headers obey it, and others as well: what both say holds.
if (isPacked) for (const name of ['index.html', 'embed.html']) await addPolicy(name);
const fingerprint = createHash('sha256');
for (const file of ['index.html', ...files, ...lessons]) {
  fingerprint.update(file).update(await readFile(join(dist, file)));
}
await build(
  serviceWorkerConfig({
    ...shared,
    outDir: dist,
    // The system asks for the icons when the page is installed.
    precache: files.filter((file) => !file.startsWith('icons/')),
    lessons,
    build: prepared
      .reduce((sum, { info }) => sum.update(info.url), fingerprint)
      .digest('hex')
      .slice(0, 12),
  }),
);
for (const { info, files } of prepared) {
  for (const [suffix, path] of files) {
    const { size } = await stat(path);
    if (isPacked ? suffix === '.gz' : !target || size <= LARGEST) {
      await copyFile(path, join(dist, info.url + suffix));
    }
  }
}
const sizes = await compressAssets([...files, ...lessons, ...embedding, 'index.html', 'sw.js']);
const manifest = { module: info, files: sizes };
await writeFile(join(dist, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
for (const name of twins) {
  await rm(folderOf(name), { recursive: true, force: true });
  await cp(dist, folderOf(name), { recursive: true });
  await finish(folderOf(name), name);
}
await finish(dist, target);

/** Adds what the hosts of a kind need beside the page, and looks at the folder as a whole. */
async function finish(folder, name) {
  const layout = TARGETS[name];
  if (name === 'pages') await writeFile(join(folder, '.nojekyll'), '');
  if (layout?.setsHeaders ?? true) {
    const names = (await list(folder)).filter((file) => !isVariant(file));
    // One that is too large lies there as its variants alone, and is asked for by its own name.
    if (!isPacked) names.push(...prepared.map(({ info }) => info.url));
    await writeFile(join(folder, '_headers'), headersFile([...new Set(names)], fetchFrom));
  }
  const faults = layout ? await faultsOf(folder, layout) : [];
  if (faults.length > 0) fail(faults.join('\nweb: '));
  say(`${relative(root, folder)} is ready after ${seconds(began)}`);
}

/** What pages of other sites load: see docs/embed.md. */
async function buildEmbedding() {
  // The page is the same, and what runs before it is not. Nobody reads of it, and a frame may show no terminal.
  const page = await readFile(join(dist, 'index.html'), 'utf8');
  const embed = page
    .replace('./early.js', './embed-early.js')
    .replace(/\s*<link\s[^>]*rel="(manifest|apple-touch-icon|preload)"[^>]*>/g, '')
    .replace(/\s*<link\s[^>]*rel="modulepreload"[^>]*\/screen-[^>]*>/g, '')
    .replace(/\s*<meta\s[^>]*name="(description|theme-color)"[^>]*>/g, '');
  if (!embed.includes('embed-early.js')) fail('index.html does not begin with early.js.');
  await writeFile(join(dist, 'embed.html'), embed);
  const library = (entry, format, fileName) =>
    build(libraryConfig({ entry, format, outDir: dist, fileName, minify: true }));
  await library('src/embed/script.ts', 'iife', 'embed.js');
  await library('src/embed/codapi.ts', 'iife', 'embed-codapi.js');
  await library('src/embed/site.ts', 'es', 'embed-client.js');
  // A name that stays, for a worker whose name differs in every build.
  await writeFile(join(dist, 'engine.js'), `import './${await workerScript()}';\n`);
}

async function workerScript() {
  const workers = (await list(dist)).filter((file) => /^assets\/worker-[^/]*\.js$/.test(file));
  if (workers.length !== 1)
    fail(`One script of the engine worker was expected, not ${workers.length}.`);
  return workers[0];
}

/**
 * Tells early.js what the engine worker's script is called in this build, and which lessons there are, and makes it and
 * embed-early.js as small as the scripts that Vite builds.
 */
async function tellEarly() {
  const { parts } = JSON.parse(await readFile(join(dist, 'lessons/index.json'), 'utf8'));
  const ids = parts.flatMap(({ lessons }) => lessons.map(({ id }) => id));
  const worker = `./${await workerScript()}`;
  for (const name of ['early.js', 'embed-early.js']) {
    const path = join(dist, name);
    const text = (await readFile(path, 'utf8'))
      .replace('__WORKER__', worker)
      .replace('__LESSON_IDS__', ids.join(' '));
    const { code, errors } = minifySync(name, text, {
      module: false,
      compress: { target: TARGET },
    });
    if (errors.length > 0) fail(`${name}: ${errors[0].message}`);
    await writeFile(path, code);
  }
}

/** Puts the content security policy into a document, before anything that it is about. */
async function addPolicy(name) {
  const path = join(dist, name);
  const text = await readFile(path, 'utf8');
  const changed = text.replace(
    '<meta charset="utf-8" />',
    (first) => `${first}\n    ${metaPolicy(name, fetchFrom)}`,
  );
  if (changed === text) fail(`${name} has no place for its content security policy.`);
  await writeFile(path, changed);
}

/** Lays out lessons/, a file for each lesson and language. Returns their names. */
async function writeLessons() {
  const program = ['run', '-tags', 'grpcnotrace', './tutorials/cmd/lessons'];
  execFileSync('go', [...program, '-out', join(dist, 'lessons')], { cwd: root, stdio: 'inherit' });
  return (await list(dist)).filter((file) => file.startsWith('lessons/'));
}

async function cutOff(extension) {
  return existsSync(join(wasmDir, `kubetab.${extension}`)) ? await prepare(extension) : null;
}

/** Names the file kubetab.<extension> after its content and compresses it, or finds that done. */
async function prepare(extension) {
  const source = join(wasmDir, `kubetab.${extension}`);
  const hash = createHash('sha256');
  await pipeline(createReadStream(source), hash);
  const sha256 = hash.digest('hex');
  const name = `kubetab.${sha256.slice(0, 12)}.${extension}`;
  const { size } = await stat(source);
  const info = { url: name, bytes: size };
  const files = [['', source]];
  say(`${name}: ${mb(size)}`);
  if (quality > 0) {
    await mkdir(kept, { recursive: true });
    const variants = [
      !isPacked && ['br', '.br', `br${quality}-3-64`, () => brotli(quality, size)],
      ['gzip', '.gz', `gz${gzipLevel}`, () => createGzip({ level: gzipLevel })],
    ];
    await Promise.all(
      variants.filter(Boolean).map(async ([coding, suffix, label, compressor]) => {
        const target = join(kept, `${name}.${label}`);
        if (!existsSync(target)) await compress(source, size, target, coding, compressor());
        info[coding] = (await stat(target)).size;
        files.push([suffix, target]);
        say(`${name}${suffix}: ${mb(info[coding])}`);
      }),
    );
  }
  return { info, sha256, files };
}

function brotli(q, size) {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: q,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: size,
    // For data that is made of words of 8 bytes: 0.7 % less for the module, 5 % for the snapshot.
    [constants.BROTLI_PARAM_NPOSTFIX]: 3,
    [constants.BROTLI_PARAM_NDIRECT]: 64,
  };
  return createBrotliCompress({ params });
}

/** Written under another name first: an interrupted build must not leave half a file that looks whole. */
async function compress(source, size, target, coding, compressor) {
  const since = Date.now();
  let read = 0;
  const input = createReadStream(source, { highWaterMark: 1 << 20 });
  input.on('data', (piece) => {
    read += piece.length;
  });
  const timer = setInterval(
    () => say(`${coding}: ${mb(read)} of ${mb(size)}, ${seconds(since)}`),
    5000,
  );
  await pipeline(input, compressor, createWriteStream(`${target}.part`));
  clearInterval(timer);
  await rename(`${target}.part`, target);
  say(`${coding}: done in ${seconds(since)}`);
}

/** Drops the variants of earlier files. */
async function forget() {
  if (!existsSync(kept)) return;
  const names = prepared.map(({ info }) => info.url);
  for (const file of await readdir(kept)) {
    if (!names.some((name) => file.startsWith(name))) await rm(join(kept, file));
  }
}

/** A file that is sent in the place of another one. */
function isVariant(file) {
  return /\.(br|gz)$/.test(file) && !(isPacked && file.endsWith('.gz'));
}

/** Sizes of the page's own files; compresses those that are text, unless told not to. */
async function compressAssets(names) {
  const sizes = [];
  for (const file of names) {
    const path = join(dist, file);
    const bytes = await readFile(path);
    const entry = { path: file, bytes: bytes.length, lessons: lessonShares.get(file) };
    sizes.push(entry);
    if (quality === 0 || isPacked || !/\.(html|js|css|svg|json|webmanifest)$/.test(file)) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
    const br = brotliCompressSync(bytes, { params });
    const gzip = gzipSync(bytes, { level: 9 });
    await writeFile(`${path}.br`, br);
    await writeFile(`${path}.gz`, gzip);
    Object.assign(entry, { br: br.length, gzip: gzip.length });
  }
  // A server may take a variant that is older than its file for a leftover.
  const now = new Date();
  for (const file of await list(dist)) {
    if (/\.(br|gz)$/.test(file)) await utimes(join(dist, file), now, now);
  }
  return sizes;
}
