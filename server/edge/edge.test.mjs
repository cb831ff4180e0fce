// The edge Worker in the real workerd, by miniflare, with no network. node server/edge/build.mjs comes first, and make site
// TARGET=worker.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import {
  brotliCompressSync,
  brotliDecompressSync,
  deflateSync,
  gunzipSync,
  gzipSync,
} from 'node:zlib';
import { Miniflare } from 'miniflare';
import { chromium } from 'playwright-core';
import { CHROMIUM, FLAGS } from '../../web/build/chromium.mjs';
import { list } from '../../web/build/layout.mjs';
import { headersOf, originsIn } from '../../web/headers/headers.mjs';

const laidOut = join(import.meta.dirname, '../../build/site/worker');
const folder = process.env.KUBETAB_EDGE ?? join(import.meta.dirname, '../../build/edge');
const site = mkdtempSync(join(tmpdir(), 'edge-'));
const FILES = 'application/vnd.kubetab.files';
const TOKEN = 'of the operator';
const DAY = 86_400;

const index = '<!doctype html><title>The page</title>';
const wasm = Buffer.from('\0asm and much more');
const files = {
  'index.html': index,
  'index.html.br': brotliCompressSync(index),
  'index.html.gz': gzipSync(index),
  'early.js': 'let a;',
  // The host refuses the module itself: only its variants are there.
  'kubetab.0123456789ab.wasm.br': brotliCompressSync(wasm),
  'kubetab.0123456789ab.wasm.gz': gzipSync(wasm),
  _headers: 'secret',
};

/** @type {Miniflare} */
let worker;
const options = (more = {}) => ({
  rootPath: folder,
  modulesRoot: folder,
  modules: [
    { type: 'ESModule', path: join(folder, 'worker.mjs') },
    { type: 'ESModule', path: join(folder, 'headers.mjs') },
    { type: 'ESModule', path: join(folder, 'store/worker.mjs') },
    { type: 'ESModule', path: join(folder, 'store/runtime.mjs') },
    { type: 'ESModule', path: join(folder, 'store/wasm_exec.js') },
    { type: 'CompiledWasm', path: join(folder, 'store/app.wasm') },
  ],
  compatibilityDate: '2026-04-01',
  cf: false, // it would ask the platform where this machine is
  unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
  kvNamespaces: ['SHARES'],
  bindings: { TOKEN },
  ratelimits: {
    WRITES: { simple: { limit: 1000, period: 60 } },
    READS: { simple: { limit: 1000, period: 60 } },
  },
  assets: {
    directory: site,
    binding: 'ASSETS',
    assetConfig: { html_handling: 'none' },
    routerConfig: { has_user_worker: true, invoke_user_worker_ahead_of_assets: true },
  },
  ...more,
});

before(async () => {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(site, name), content);
  mkdirSync(join(site, 'assets'));
  worker = new Miniflare(options());
  await worker.ready;
});
after(async () => {
  await worker?.dispose();
  rmSync(site, { recursive: true, force: true });
});

const packed = (list) => deflateSync(JSON.stringify(list));
const ask = (path, init, from = worker) => from.dispatchFetch(`http://tab.example${path}`, init);
const post = (body, type = FILES, headers = {}, from = worker) =>
  ask('/s', { method: 'POST', body, headers: { 'Content-Type': type, ...headers } }, from);

test('content is kept, is the same link when it is sent again, and comes back with its tag', async () => {
  const content = packed([['a.yaml', 'kind: Pod\n']]);
  const first = await post(content);
  assert.equal(first.status, 201, await first.clone().text());
  const { id } = await first.json();
  assert.match(id, /^[a-z2-7]{24}$/);
  const second = await post(content);
  assert.equal(second.status, 200);
  assert.deepEqual(await second.json(), { id });

  const answer = await ask(`/s/${id}`);
  assert.equal(answer.status, 200);
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), content);
  assert.equal(answer.headers.get('content-type'), FILES);
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.match(answer.headers.get('content-security-policy'), /default-src 'none'.*sandbox/);
  const same = await ask(`/s/${id}`, { headers: { 'If-None-Match': answer.headers.get('etag') } });
  assert.equal(same.status, 304);
  assert.equal(await same.text(), '');
  const head = await ask(`/s/${id}`, { method: 'HEAD' });
  assert.equal(head.status, 200);
});

test('what is not there is 404, although the library has a word for it', async () => {
  const missing = await ask(`/s/${'a'.repeat(24)}`);
  assert.equal(missing.status, 404);
  assert.match((await missing.json()).message, /nothing is kept/);
  assert.equal((await ask('/s/../s/x')).status, 404);
  assert.equal((await ask('/s/')).status, 404);
  // Nor is what somebody else has put there.
  const { SHARES } = await worker.getBindings();
  for (const text of ['null', '<null>', '', 'bnVsbA==']) {
    await SHARES.put('b'.repeat(24), text);
    assert.equal((await ask(`/s/${'b'.repeat(24)}`)).status, 404, text);
  }
});

test('what is hostile, too much or from another site is refused and not kept', async () => {
  const { SHARES } = await worker.getBindings();
  const before = (await SHARES.list()).keys.length;
  const bomb = deflateSync(`[["a","${' '.repeat(24_000_000)}"]]`);
  for (const [code, body, type, headers] of [
    [415, '<script>', 'text/html'],
    [413, Buffer.alloc(256 * 1024 + 1)],
    [422, 'text'],
    [422, packed({ a: 1 })],
    [422, bomb],
    [422, packed([['a', 'b']]), 'application/vnd.kubetab.bundle'],
    [403, packed([['a', 'b']]), FILES, { 'Sec-Fetch-Site': 'cross-site' }],
    [403, packed([['a', 'b']]), FILES, { Origin: 'https://evil.example' }],
  ]) {
    const answer = await post(body, type, headers);
    assert.equal(answer.status, code, await answer.text());
    assert.equal(answer.headers.get('content-type'), 'application/json');
  }
  assert.equal((await SHARES.list()).keys.length, before);
});

test('records expire by themselves, and the operator takes one down for good', async () => {
  const content = packed([['a', 'to be taken down']]);
  const { id } = await (await post(content)).json();
  const { SHARES } = await worker.getBindings();
  const { keys } = await SHARES.list();
  const days = (keys.find(({ name }) => name === id).expiration - Date.now() / 1000) / DAY;
  assert.ok(days > 89.9 && days < 90.1, `${days} days`);
  const remove = (token) =>
    ask(`/s/${id}`, { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } });
  assert.equal((await remove('of somebody')).status, 401);
  assert.equal((await ask(`/s/${id}`)).status, 200);
  assert.equal((await remove(TOKEN)).status, 204);
  assert.equal((await ask(`/s/${id}`)).status, 410);
  assert.equal((await post(content)).status, 410);
  const left = (await SHARES.list()).keys.find(({ name }) => name === id);
  assert.equal(left.expiration, undefined);
});

test('a use renews a record, once a day', async () => {
  const content = packed([['a', 'used again']]);
  const { id } = await (await post(content)).json();
  const { SHARES } = await worker.getBindings();
  const expires = async () =>
    (await SHARES.list()).keys.find(({ name }) => name === id).expiration - Date.now() / 1000;
  /** As it is kept when its last use is so many seconds ago. */
  const usedBefore = async (seconds) => {
    const record = Buffer.from(await SHARES.get(id), 'base64').toString('latin1');
    const used = Math.floor(Date.now() / 1000) - seconds;
    const earlier = Buffer.from(record.replace(/^(kubetab\.share 1) \d+ /, `$1 ${used} `), 'latin1');
    await SHARES.put(id, earlier.toString('base64'), { expirationTtl: 90 * DAY - seconds });
  };
  await usedBefore(40 * DAY);
  assert.ok((await expires()) < 51 * DAY);
  const answer = await ask(`/s/${id}`);
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), content);
  assert.ok((await expires()) > 89.9 * DAY);
  await usedBefore(DAY / 2);
  assert.equal((await ask(`/s/${id}`)).status, 200);
  assert.ok((await expires()) < 89.6 * DAY, 'written although it was used on the same day');
});

/** The codes of what these addresses post one after the other to a Worker where each may do so twice a minute. */
async function limited(addresses) {
  const few = { simple: { limit: 2, period: 60 } };
  const to = new Miniflare(options({ ratelimits: { WRITES: few, READS: few } }));
  try {
    const content = packed([['a', 'b']]);
    const codes = [];
    for (const address of addresses) {
      const answer = await post(content, FILES, { 'CF-Connecting-IP': address }, to);
      codes.push(answer.status);
      await answer.text();
    }
    return codes;
  } finally {
    await to.dispose();
  }
}

test('the platform counts for each address', async () => {
  // miniflare counts for the minutes of the clock: where one ends meanwhile, it has begun anew.
  const minute = () => Math.floor(Date.now() / 60_000);
  let began, codes;
  do {
    began = minute();
    codes = await limited([
      '192.0.2.1',
      '192.0.2.1',
      '192.0.2.1',
      '192.0.2.2',
      '2001:db8::1',
      '2001:db8::2',
      '2001:db8::3',
    ]);
  } while (minute() !== began);
  assert.deepEqual(codes, [201, 200, 429, 200, 200, 200, 429]);
  // Without a limit nothing is taken.
  const open = new Miniflare(options({ ratelimits: {} }));
  try {
    assert.equal((await post(packed([['a', 'b']]), FILES, {}, open)).status, 500);
  } finally {
    await open.dispose();
  }
});

/** As it comes over the wire: fetch inflates what it is told is compressed. */
async function get(path, coding, { method = 'GET', tag, from = worker } = {}) {
  const headers = { 'Accept-Encoding': coding, ...(tag && { 'If-None-Match': tag }) };
  // Past miniflare's own front, which compresses anew.
  const address = new URL(path, await from.unsafeGetDirectURL());
  const answer = await new Promise((done, failed) => {
    request(address, { method, headers }, done).on('error', failed).end();
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: Buffer.concat(await answer.toArray()),
  };
}

// The policies with the sites from which every page may fetch, unless a host gives its own: those of fetch-from.json are in
// the page's and in no other.
const policyOf = (name) => headersOf(name, originsIn())['Content-Security-Policy'];

test('files of the page are sent as they are, in a coding that the browser takes', async () => {
  const inflate = { br: brotliDecompressSync, gzip: gunzipSync };
  for (const [path, said, coding, content, type] of [
    ['/', 'gzip, deflate, br', 'br', index, 'text/html; charset=utf-8'],
    ['/index.html', 'gzip', 'gzip', index, 'text/html; charset=utf-8'],
    ['/', 'br;q=0, gzip', 'gzip', index, 'text/html; charset=utf-8'],
    ['/early.js', 'identity', undefined, 'let a;', 'text/javascript; charset=utf-8'],
    ['/kubetab.0123456789ab.wasm', 'br', 'br', wasm.toString(), 'application/wasm'],
    ['/kubetab.0123456789ab.wasm', 'gzip', 'gzip', wasm.toString(), 'application/wasm'],
  ]) {
    const { status, headers, body } = await get(path, said);
    assert.equal(status, 200, path);
    assert.equal(headers['content-encoding'], coding, `${path}, ${said}`);
    assert.equal(
      (inflate[coding] ?? ((same) => same))(body).toString(),
      content,
      `${path}, ${said}`,
    );
    assert.equal(headers['content-type'], type);
    assert.equal(headers.vary, 'Accept-Encoding');
    assert.equal(headers['kubetab-share'], /html/.test(type) ? 's' : undefined);
    const page = /html/.test(type) ? 'index.html' : path.slice(1);
    assert.equal(headers['content-security-policy'], policyOf(page));
    assert.equal((await get(path, said, { tag: headers.etag })).status, 304, path);
  }
  const { headers } = await get('/kubetab.0123456789ab.wasm', 'br');
  assert.match(headers['cache-control'], /immutable/);
  for (const [path, status, init] of [
    ['/none.js', 404],
    ['/index.html.br', 404],
    ['/_headers', 404],
    ['/', 405, { method: 'POST' }],
    ['/shop', 404],
  ]) {
    const answer = await get(path, 'br', init);
    assert.equal(answer.status, status, path);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  }
  assert.equal((await get('/kubetab.0123456789ab.wasm', 'identity')).status, 406);
});

test('every file of the page comes as it is laid out, and the page runs and shares', async () => {
  const real = new Miniflare(options({ assets: { ...options().assets, directory: laidOut } }));
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS] });
  try {
    const files = await list(laidOut);
    const names = new Set(files.map((file) => file.replace(/\.(br|gz)$/, '')));
    names.delete('_headers');
    assert.ok(names.size > 100, `only ${names.size} files`);
    for (const name of names) {
      const { status, headers, body } = await get(`/${name}`, 'br', { from: real });
      const sent = headers['content-encoding'] === 'br' ? `${name}.br` : name;
      assert.equal(status, 200, name);
      assert.equal(sent, files.includes(`${name}.br`) ? `${name}.br` : name);
      assert.ok(body.equals(readFileSync(join(laidOut, sent))), sent);
    }
    const page = await browser.newPage();
    const { href } = await real.unsafeGetDirectURL();
    await page.goto(href);
    await page.locator('.pill.is-ready').waitFor({ timeout: 240_000 });
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    assert.equal(await page.evaluate(async () => (await fetch('/api/v1/nodes')).status), 200);
    const { id } = await (
      await post(packed([['sent.yaml', 'kind: Pod\n']]), FILES, {}, real)
    ).json();
    await page.evaluate((hash) => location.assign(hash), `#shared/s/${id}`);
    await page.getByRole('dialog').getByText('sent.yaml').waitFor();
  } finally {
    await browser.close();
    await real.dispose();
  }
});

// It reads wrangler.toml, finds the modules and the bindings, and uploads nothing.
test('wrangler takes what is deployed', async () => {
  const project = mkdtempSync(join(tmpdir(), 'edge-deployed-'));
  try {
    const config = readFileSync(join(import.meta.dirname, 'wrangler.toml'), 'utf8')
      .replace('../../build/edge', folder)
      .replace('../../build/site/worker', site);
    writeFileSync(join(project, 'wrangler.toml'), config);
    const wrangler = join(import.meta.dirname, 'node_modules/.bin/wrangler');
    const { stdout, stderr } = await promisify(execFile)(wrangler, ['deploy', '--dry-run'], {
      cwd: project,
      env: {
        ...process.env,
        HOME: project,
        WRANGLER_SEND_METRICS: 'false',
        WRANGLER_HIDE_BANNER: 'true', // with which it would ask the registry for a newer version
      },
    });
    const said = stdout + stderr;
    for (const part of ['store/app.wasm', 'env.SHARES', 'env.WRITES', 'env.READS', 'env.ASSETS']) {
      assert.ok(said.includes(part), `no ${part} in\n${said}`);
    }
    assert.doesNotMatch(said, /WARNING|Unexpected/);
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
});
