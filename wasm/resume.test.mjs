// What two visitors may not share, though they go on from one snapshot. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const built = process.env.KUBETAB_WASM ?? 'build/wasm';
const engines = [];

before(async () => engines.push(...(await Promise.all([start(), start()]))));
after(() => engines.forEach(({ child }) => child.kill()));

async function start() {
  const child = spawn(process.execPath, ['wasm/host.mjs', '--wasm', `${built}/kubetab.wasm`, '--snapshot', `${built}/kubetab.snapshot`], { cwd: root });
  let log = '';
  child.stderr.on('data', (text) => (log += text));
  const url = await new Promise((resolve, reject) => {
    let out = '';
    child.stdout.on('data', (text) => {
      out += text;
      const found = out.match(/^listening (http\S+)\n/);
      if (found) resolve(found[1]);
    });
    child.on('close', (code) => reject(new Error(`ended with ${code}: ${log}`)));
  });
  assert.doesNotMatch(log, /without its snapshot/);
  return { child, url };
}

const json = (body) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/** Asks both engines the same. */
async function both(path, init) {
  return Promise.all(
    engines.map(async ({ url }) => {
      const response = await fetch(url + path, init);
      const text = await response.text();
      assert.ok(response.ok, `${path}: ${response.status} ${text}`);
      return JSON.parse(text);
    }),
  );
}

async function differ(what, path, value, init) {
  const [a, b] = (await both(path, init)).map(value);
  assert.ok(a !== undefined && b !== undefined, `${what}: nothing to compare`);
  assert.notEqual(a, b, `${what} is the same in both`);
}

test('keys and certificates', async () => {
  await differ('the key of service account tokens', '/openid/v1/jwks', ({ keys }) => keys[0].x);
  await differ('the root CA', '/api/v1/namespaces/default/configmaps/kube-root-ca.crt', ({ data }) => data['ca.crt']);
});

test('a token of one is nothing to the other', async () => {
  const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
  const tokens = (await both(path, json({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }))).map(({ status }) => status.token);
  const ask = async (engine, token) => (await fetch(`${engines[engine].url}/api`, { headers: { authorization: `Bearer ${token}` } })).status;
  assert.deepEqual([await ask(0, tokens[0]), await ask(1, tokens[1])], [200, 200]);
  assert.deepEqual([await ask(0, tokens[1]), await ask(1, tokens[0])], [401, 401]);
});

test('generated names and UIDs', async () => {
  await differ('the cluster', '/api/v1/namespaces/kube-system', ({ metadata }) => metadata.uid);
  const create = json({ metadata: { generateName: 'generated-' } });
  const made = await both('/api/v1/namespaces/default/configmaps', create);
  assert.notEqual(made[0].metadata.name, made[1].metadata.name);
  assert.notEqual(made[0].metadata.uid, made[1].metadata.uid);
});

test('clocks show the present', async () => {
  for (const made of await both('/api/v1/namespaces/default/configmaps', json({ metadata: { generateName: 'now-' } }))) {
    assert.ok(Math.abs(Date.now() - Date.parse(made.metadata.creationTimestamp)) < 10_000, made.metadata.creationTimestamp);
  }
});

test('nodes stay ready', async () => {
  // The API server's leases, and what the node lifecycle controller measures by: nothing is late after the jump.
  for (const { items } of await both('/api/v1/nodes')) {
    assert.ok(items.length > 0);
    for (const node of items) {
      assert.equal(node.status.conditions.find(({ type }) => type === 'Ready').status, 'True');
      assert.deepEqual(node.spec.taints ?? [], []);
    }
  }
});
