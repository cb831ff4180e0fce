// What two visitors may not share, though they go on from one snapshot. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const built = process.env.KUBETAB_WASM ?? 'build/wasm';
const engines = [];

before(async () => engines.push(...(await Promise.all([start(), start()]))));
after(() => engines.forEach(({ child }) => child.kill()));

async function start() {
  const child = spawn(process.execPath, ['wasm/host/serve.mjs', '--wasm', `${built}/kubetab.wasm`, '--snapshot', `${built}/kubetab.snapshot`], { cwd: root });
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
  return { child, url, log: () => log };
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

/** Waits until both have an object that a controller makes once it has resumed. */
async function made(path) {
  for (const { url } of engines) {
    const [collection, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
    const watch = await fetch(`${url}${collection}?watch=1&fieldSelector=metadata.name=${name}`);
    const reader = watch.body.getReader();
    assert.equal((await reader.read()).done, false);
    await reader.cancel();
  }
}

test('keys and certificates', async () => {
  await made('/api/v1/namespaces/default/configmaps/kube-root-ca.crt');
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

test('the endpoint of the API server is put right, without the rest of the module', async () => {
  const [{ url, log }] = engines;
  const path = `${url}/apis/discovery.k8s.io/v1/namespaces/default/endpointslices`;
  const { metadata, endpoints } = await (await fetch(`${path}/kubernetes`)).json();
  assert.deepEqual(endpoints[0].addresses, ['172.18.0.1']);
  const watch = await fetch(`${path}?watch=1&resourceVersion=${metadata.resourceVersion}`, { signal: AbortSignal.timeout(240_000) });
  assert.equal((await fetch(`${path}/kubernetes`, { method: 'DELETE' })).status, 200);
  let seen = '';
  for await (const part of watch.body.pipeThrough(new TextDecoderStream())) {
    seen += part;
    if (seen.includes('"type":"ADDED"')) break; // upstream looks every ten seconds
  }
  assert.match(seen, /"type":"DELETED".*\n.*"172\.18\.0\.1"/);
  assert.doesNotMatch(log(), /the rest of the module is needed/);
});

// Of the start of the engine that the snapshot is of, and of all that has happened since it goes on.
test('nothing has a Warning event', async () => {
  const path = `${engines[1].url}/api/v1/events`;
  const told = (events) => events.map(({ reason, message }) => `${reason}: ${message}`);
  const events = (await (await fetch(path)).json()).items;
  assert.ok(told(events).some((text) => text.startsWith('RegisteredNode: ')), `no events are kept: ${told(events)}`);
  assert.deepEqual(told(events.filter(({ type }) => type !== 'Normal')), []);
});

test('an engine under load does without the rest of its module', async () => {
  const [{ url, log }] = engines;
  const path = '/api/v1/namespaces/default/secrets';
  const WATCHES = 60;
  const WRITES = 300;
  const stop = new AbortController();
  const watches = Array.from({ length: WATCHES }, async () => {
    const { body } = await fetch(`${url}${path}?watch=1`, { signal: stop.signal });
    let text = '';
    for await (const part of body.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (text.match(/"type":"ADDED"/g)?.length >= WRITES) return;
    }
    throw new Error('the watch ended');
  });
  const write = async (i) => {
    const response = await fetch(url + path, json({ metadata: { name: `busy-${i}` } }));
    assert.equal(response.status, 201, await response.text());
  };
  for (let i = 0; i < WRITES; i += 30) {
    await Promise.all(Array.from({ length: 30 }, (_, k) => write(i + k)));
    assert.equal((await fetch(url + path)).status, 200);
  }
  await Promise.all(watches);
  stop.abort();
  assert.doesNotMatch(log(), /the rest of the module is needed/);
});

test('what only the rest of the module reads comes with it', async () => {
  const command = `mkdir patched && cd patched
cat > deployment.yaml <<EOF
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: nginx, image: nginx}]}}}
EOF
cat > kustomization.yaml <<EOF
resources: [deployment.yaml]
patches:
- patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec: {template: {spec: {containers: [{name: nginx, imagePullPolicy: Never}]}}}
EOF
kubectl kustomize .`;
  // Of which list items are the same by name kustomize knows from a schema of its own.
  const answers = await both('/kubetab/run', json({ command }));
  for (const { stdout, stderr, exitCode } of answers) {
    assert.deepEqual({ stderr, exitCode }, { stderr: '', exitCode: 0 });
    assert.match(stdout, /containers:\n +- image: nginx\n +imagePullPolicy: Never\n +name: nginx\n/);
  }
});
