// What a folder for a static host must be: see docs/hosting.md.
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, normalize, posix, relative } from 'node:path';

/** Of a file on a static host: 25 MiB is Cloudflare's limit, and the lowest that is known. In bytes. */
export const LARGEST = 25 * 1024 * 1024;

/**
 * Kinds of static hosts.
 *
 * @type {Record<string, Target>}
 *
 * @typedef {object} Target
 * @property {boolean} isPacked whether the host sends files as they are: large ones are there as .gz alone, which the page
 *   unpacks. Other hosts send .br and .gz in the place of the file they belong to
 * @property {boolean} setsHeaders whether the host sends the headers in the file _headers
 */
export const TARGETS = {
  plain: { isPacked: true, setsHeaders: true },
  pages: { isPacked: true, setsHeaders: false },
  worker: { isPacked: false, setsHeaders: true },
};

/** Files that are always there, by their own names. */
const NAMED = ['index.html', 'early.js', 'sw.js', 'embed.html', 'embed.js', 'embed-client.js'];
/** What Vite names after its content, in quotation marks; those beside a script begin with a dot. */
const HASHED = /["'`]((?:\.\/)?(?:assets\/)?[\w.-]+-[\w-]{8}\.(?:js|css|woff2|svg|png))["'`]/g;
/** The module, its other parts, and the snapshot. */
const LARGE = /kubetab\.[0-9a-f]{12}\.(?:(?:soon\.|rest\.)?wasm|snapshot)/g;
/** What the service worker keeps at once. */
const LESSON = /["'`](lessons\/[\w./-]+\.json)["'`]/g;

/** @param {string} folder @returns {Promise<string[]>} names, relative to the folder */
export async function list(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/**
 * Looks at a folder that has been laid out: at sizes, at each file that another one names, and at headers.
 *
 * @param {string} folder
 * @param {Target} target
 * @returns {Promise<string[]>} a sentence for each fault
 */
export async function faultsOf(folder, { isPacked, setsHeaders }) {
  const files = await list(folder);
  const faults = [];
  const needs = (name, by) => {
    if (!files.includes(name)) faults.push(`${by} names ${name}, which is missing.`);
  };
  for (const name of NAMED) needs(name, 'The page');
  for (const file of files) {
    const { size } = await stat(join(folder, file));
    if (size > LARGEST) {
      faults.push(`${file} has ${size} bytes; static hosts take ${LARGEST} at most.`);
    }
    if (!/\.(html|js|css)$/.test(file)) continue;
    const text = await readFile(join(folder, file), 'utf8');
    for (const [, name] of text.matchAll(HASHED)) {
      const isBeside = name.startsWith('./');
      needs(isBeside ? posix.join(posix.dirname(file), name) : withFolder(name), file);
    }
    for (const [name] of text.matchAll(LARGE)) {
      for (const suffix of isPacked ? ['.gz'] : ['.br', '.gz']) needs(name + suffix, file);
    }
    if (file === 'sw.js') for (const [, name] of text.matchAll(LESSON)) needs(name, file);
  }
  faults.push(...(await faultsOfPolicy(folder, { isPacked, setsHeaders }, files)));
  return [...new Set(faults)];
}

/** Scripts name what they load later relative to the page. */
function withFolder(name) {
  return name.startsWith('assets/') ? name : `assets/${name}`;
}

async function faultsOfPolicy(folder, { isPacked, setsHeaders }, files) {
  const faults = [];
  for (const name of isPacked ? ['index.html', 'embed.html'] : []) {
    const path = join(folder, normalize(name));
    const text = existsSync(path) ? await readFile(path, 'utf8') : '';
    if (!text.includes('<meta http-equiv="Content-Security-Policy"')) {
      faults.push(`${name} has no content security policy.`);
    }
  }
  if (!setsHeaders) {
    if (files.includes('_headers'))
      faults.push('There is a file _headers, which the host does not read.');
    return faults;
  }
  const text = files.includes('_headers') ? await readFile(join(folder, '_headers'), 'utf8') : '';
  const paths = text.match(/^\/\S*$/gm) ?? [];
  for (const file of files) {
    const [first, ...below] = file.split('/');
    // A variant is sent under the name of its file.
    const name = isPacked ? first : first.replace(/\.(br|gz)$/, '');
    const path = below.length > 0 ? `/${first}/*` : `/${name}`;
    if (file !== '_headers' && !paths.includes(path)) faults.push(`_headers has no path ${path}.`);
  }
  if (new Set(paths).size < paths.length) faults.push('_headers has a path twice.');
  return faults;
}
