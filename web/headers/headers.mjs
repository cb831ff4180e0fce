// The HTTP headers of the page's files, for JavaScript: see headers.go.
import { readFileSync } from 'node:fs';

/** @type {{files: string, headers: Record<string, string>}[]} */
const source = JSON.parse(readFileSync(new URL('headers.json', import.meta.url), 'utf8'));
const rules = source.map(({ files, headers }) => ({ files: new RegExp(files), headers }));

/**
 * @param {string} name a file's, relative to the folder of the page; `index.html` for the page, `` for an error
 * @returns {Record<string, string>} headers and their values
 */
export function headersOf(name) {
  const found = Object.assign(
    {},
    ...rules.filter(({ files }) => files.test(name)).map((r) => r.headers),
  );
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== ''));
}

/**
 * The content security policy of a document as an element, for hosts that send no headers of ours. Browsers obey
 * frame-ancestors in a header alone.
 *
 * @param {string} name
 */
export function metaPolicy(name) {
  const policy = headersOf(name)
    ['Content-Security-Policy'].split('; ')
    .filter((directive) => !directive.startsWith('frame-ancestors'))
    .join('; ');
  return `<meta http-equiv="Content-Security-Policy" content="${policy}" />`;
}

/**
 * The file `_headers` of Cloudflare, Netlify and others. These hosts join the values of all paths that match, so that each
 * file is under one path alone. The files of a folder are under one path, which leaves their content types to the host.
 *
 * @param {readonly string[]} names all files
 * @throws {Error} when files of one folder have different headers
 */
export function headersFile(names) {
  /** @type {Map<string, Record<string, string>>} */
  const paths = new Map();
  for (const name of names) {
    const [folder, ...below] = name.split('/');
    const headers = headersOf(name);
    if (below.length > 0) {
      delete headers['Content-Type'];
      const path = `/${folder}/*`;
      const others = paths.get(path);
      if (others && JSON.stringify(others) !== JSON.stringify(headers)) {
        throw new Error(`${name} has other headers than the files beside it.`);
      }
      paths.set(path, headers);
      continue;
    }
    paths.set(`/${name}`, headers);
    if (name === 'index.html') paths.set('/', headers);
  }
  return [...paths]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, headers]) => [path, ...Object.entries(headers).map(([k, v]) => `  ${k}: ${v}\n`)])
    .map(([path, ...lines]) => `${path}\n${lines.join('')}`)
    .join('');
}
