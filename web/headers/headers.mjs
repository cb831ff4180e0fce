// The HTTP headers of the page's files, for JavaScript: see headers.go.
import { readFileSync } from 'node:fs';

/** @type {{files: string, headers: Record<string, string>}[]} */
const source = JSON.parse(readFileSync(new URL('headers.json', import.meta.url), 'utf8'));
const ORIGIN =
  /^https?:\/\/([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$/;

/**
 * The origins in a list with spaces or commas between them, for `fetchFrom` below: other sites from which the page may fetch
 * files. Without a list, those of fetch-from.json.
 *
 * @param {string} [list]
 * @throws {Error} for what is no origin
 */
export function originsIn(list) {
  if (list === undefined) {
    return JSON.parse(readFileSync(new URL('fetch-from.json', import.meta.url), 'utf8'));
  }
  const origins = list.split(/[\s,]+/).filter(Boolean);
  for (const each of origins) {
    if (!ORIGIN.test(each)) {
      throw new Error(
        `"${each}" is no origin: give scheme and host, such as https://files.example.`,
      );
    }
  }
  return origins;
}

/**
 * The rules of headers.json.
 *
 * @param {readonly string[]} [fetchFrom]
 * @returns {{files: string, headers: Record<string, string>}[]}
 */
export function rulesWith(fetchFrom = []) {
  if (fetchFrom.length === 0) return source;
  const policy = headersOf('index.html')['Content-Security-Policy'].replace(
    "connect-src 'self'",
    (own) => [own, ...fetchFrom].join(' '),
  );
  return [...source, { files: '^index\\.html$', headers: { 'Content-Security-Policy': policy } }];
}

/**
 * @param {string} name a file's, relative to the folder of the page; `index.html` for the page, `` for an error
 * @param {readonly string[]} [fetchFrom]
 * @returns {Record<string, string>} headers and their values
 */
export function headersOf(name, fetchFrom) {
  const rules = rulesWith(fetchFrom).filter(({ files }) => new RegExp(files).test(name));
  const found = Object.assign({}, ...rules.map((rule) => rule.headers));
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== ''));
}

/**
 * The content security policy of a document as an element, for hosts that send no headers of ours. Browsers obey
 * frame-ancestors in a header alone.
 *
 * @param {string} name
 * @param {readonly string[]} [fetchFrom]
 */
export function metaPolicy(name, fetchFrom) {
  const policy = headersOf(name, fetchFrom)
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
 * @param {readonly string[]} [fetchFrom]
 * @throws {Error} when files of one folder have different headers
 */
export function headersFile(names, fetchFrom) {
  /** @type {Map<string, Record<string, string>>} */
  const paths = new Map();
  for (const name of names) {
    const [folder, ...below] = name.split('/');
    const headers = headersOf(name, fetchFrom);
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
