// What visitors type in their first hour. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngine } from '../host/engine.mjs';
import { sit } from '../host/seat.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const built = resolve(root, process.env.KUBETAB_WASM ?? 'build/wasm');
const snapshot = join(built, 'kubetab.snapshot');
const skip = !existsSync(snapshot) && 'there is no snapshot';
const lines = readFileSync(join(root, 'wasm/split/hour.txt'), 'utf8')
  .split('\n')
  .filter((line) => line && !line.startsWith('#'));

/**
 * Starts an engine whose rest cannot be had: it costs a visitor 11 MB, and seconds.
 *
 * @returns {Promise<{engine: object, missing: Promise<never>}>} missing is rejected when the rest is called
 */
async function withoutRest(t) {
  // Whoever calls such a function waits for it, so the line does.
  let isMissing;
  const missing = new Promise((_, reject) => (isMissing = reject));
  missing.catch(() => undefined); // who waits for a line hears of it
  const engine = await startEngine({
    wasm: join(built, 'kubetab.wasm'),
    snapshot,
    onLog: () => {},
    later: async (slot, part) => {
      if (part === 'rest') {
        isMissing(new Error(`The command go run ./wasm/split -slot ${slot} build/wasm/whole.wasm names what is called.`));
        throw new Error('it is not there');
      }
      return WebAssembly.compile(readFileSync(join(built, `kubetab.${part}.wasm`)));
    },
    after: () => {},
  });
  t.after(() => void engine.close());
  return { engine, missing };
}

test('nothing that is typed in the first hour needs the rest of the module', { skip, timeout: 600_000 }, async (t) => {
  const { engine, missing } = await withoutRest(t);
  const { runs } = await sit(engine);
  const failed = [];
  for (const line of lines) {
    const printed = await Promise.race([runs(line), missing]);
    if (!/code 0\r?\n/.test(printed)) failed.push(`${line}\n${printed.slice(-500)}`);
  }
  await Promise.race([missing, undefined]);
  assert.deepEqual(failed, []);
});

// What web/src/page asks for: Form in cluster/watch.ts and cluster/pane/table.ts, and what is not of Kubernetes.
const FORMS = ['', ';as=Table;g=meta.k8s.io;v=v1', ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1'];
const OWN = ['settings', 'settings?emulatedVersion=1.36', 'clock', 'etcd', 'identity', 'kubeconfig', 'requests', 'requests/audit', 'bundle'];

test('nothing that the views ask for of any kind needs the rest of the module', { skip, timeout: 600_000 }, async (t) => {
  const { engine, missing } = await withoutRest(t);
  const asked = async (path, accept, read) => {
    const stop = new AbortController();
    const answer = engine.fetch(path, { headers: { accept }, signal: stop.signal }).then(read);
    try {
      return await Promise.race([answer, missing]);
    } catch (error) {
      throw new Error(`${path} as ${accept}: ${error.message}`);
    } finally {
      stop.abort();
    }
  };
  const json = (path, form = '') =>
    asked(path, `application/json${form}`, async (response) => {
      assert.equal(response.status, 200, path);
      return response.json();
    });

  for (const path of OWN) {
    await asked(`/kubetab/${path}`, '*/*', async (response) => {
      assert.equal(response.status, 200, path);
      await response.arrayBuffer();
    });
  }
  for (const { serverRelativeURL } of Object.values((await json('/openapi/v3')).paths)) await json(serverRelativeURL);

  const discovery = ';g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const groups = (await Promise.all(['/api', '/apis'].map((path) => json(path, discovery)))).flatMap(({ items }) => items);
  const collections = groups.flatMap(({ metadata: { name = '' }, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.filter(({ verbs }) => verbs.includes('list')).map(({ resource, verbs }) => ({ path: `${name ? `/apis/${name}` : '/api'}/${version}/${resource}`, verbs })),
    ),
  );
  assert.ok(collections.length > 50, `${collections.length} kinds`);
  for (const { path, verbs } of collections) {
    for (const form of FORMS) {
      const { kind } = await json(path, form.replace('Metadata;', 'MetadataList;'));
      assert.match(kind, /List$|^Table$/, path);
      if (!verbs.includes('watch')) continue;
      await asked(`${path}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`, `application/json${form}`, untilInitialEnd);
    }
    const [first] = (await json(path)).items;
    if (!first) continue;
    const { name, namespace } = first.metadata;
    await json(namespace ? path.replace(/[^/]+$/, `namespaces/${namespace}/$&/${name}`) : `${path}/${name}`);
  }
});

/** Reads a watch until it has what was there. */
async function untilInitialEnd(response) {
  assert.equal(response.status, 200);
  let text = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes('k8s.io/initial-events-end')) return;
  }
  assert.fail(`The watch ended: ${text}`);
}
