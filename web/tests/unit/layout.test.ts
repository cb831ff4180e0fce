import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { faultsOf, LARGEST, TARGETS } from '../../build/layout.mjs';
import { headersFile, metaPolicy } from '../../headers/headers.mjs';

const MODULE = 'kubetab.0123456789ab.wasm';
const REST = 'kubetab.abcdefabcdef.rest.wasm';
const SNAPSHOT = 'kubetab.ba9876543210.snapshot';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'layout-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** Files that name each other as those of a build do. */
function page(name: keyof typeof TARGETS): Record<string, string> {
  const isPacked = TARGETS[name]?.isPacked;
  const head = (document: string) => (isPacked ? metaPolicy(document) : '');
  const files: Record<string, string> = {
    'index.html': `${head('index.html')}<script src="./assets/index-C9rLL2Zp.js"></script>`,
    'embed.html': `${head('embed.html')}<link href="./assets/index-uInawFQ1.css">`,
    'assets/index-C9rLL2Zp.js': `import"./ask-0GPo0wQv.js";new Worker("assets/worker-B_e1l7OW.js")`,
    'assets/ask-0GPo0wQv.js': '',
    'assets/index-uInawFQ1.css': '',
    'assets/worker-B_e1l7OW.js': `fetch("${MODULE}");fetch("${SNAPSHOT}");fetch("${REST}")`,
    'early.js': `"./assets/worker-B_e1l7OW.js"`,
    'embed.js': '',
    'embed-client.js': '',
    'sw.js': `["assets/ask-0GPo0wQv.js","lessons/first/en.json"]`,
    'lessons/first/en.json': '{}',
  };
  const large = [MODULE, SNAPSHOT, REST];
  for (const file of large) {
    files[`${file}.gz`] = '';
    if (!isPacked) files[`${file}.br`] = '';
  }
  if (TARGETS[name]?.setsHeaders) {
    const names = Object.keys(files).filter((file) => isPacked || !/\.(br|gz)$/.test(file));
    files._headers = headersFile(isPacked ? names : [...names, ...large]);
  }
  return files;
}

const kinds = Object.keys(TARGETS) as (keyof typeof TARGETS)[];
const faults = (name: keyof typeof TARGETS) => faultsOf(folder, TARGETS[name] ?? never());
function never(): never {
  throw new Error('no such target');
}

test.each(kinds)('a whole layout for %s has no faults', async (kind) => {
  write(page(kind));
  expect(await faults(kind)).toEqual([]);
});

test.each(kinds)('of a layout for %s, each missing file is told', async (kind) => {
  const whole = page(kind);
  for (const gone of Object.keys(whole)) {
    write(whole);
    rmSync(join(folder, gone));
    expect(await faults(kind), gone).not.toEqual([]);
  }
});

test('a file that no host takes is told', async () => {
  write(page('pages'));
  truncateSync(join(folder, `${MODULE}.gz`), LARGEST + 1);
  expect(await faults('pages')).toEqual([
    `${MODULE}.gz has ${LARGEST + 1} bytes; static hosts take ${LARGEST} at most.`,
  ]);
});

test('headers are where the host reads them', async () => {
  write(page('plain'));
  expect(await faults('pages')).toEqual([
    'There is a file _headers, which the host does not read.',
  ]);
  write({ 'index.html': '', 'new.txt': '' });
  expect(await faults('plain')).toEqual([
    'index.html has no content security policy.',
    '_headers has no path /new.txt.',
  ]);
});
