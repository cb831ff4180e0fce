// What visitors type in their first hour. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngine } from '../host/engine.mjs';
import { sit } from '../host/seat.mjs';
import { named, Needed, seldom } from './needed.mjs';

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
        isMissing(new Needed(`${named(slot, built)} is called.`));
        throw new Error('it is not there');
      }
      return WebAssembly.compile(readFileSync(join(built, `kubetab.${part}.wasm`)));
    },
    after: () => {},
  });
  t.after(() => void engine.close());
  return { engine, missing };
}

/** Tests what is done with an engine whose rest cannot be had. */
const testWithoutRest = (name, act) => test(name, { skip, timeout: 600_000 }, (t) => seldom(t, async () => act(await withoutRest(t))));

testWithoutRest('nothing that is typed in the first hour needs the rest of the module', async ({ engine, missing }) => {
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

/** Returns functions that ask an engine, and fail when the rest is called: for anything, and for what is answered with 200 and JSON. */
function asking({ engine, missing }) {
  const asked = async (path, accept, read, init = {}) => {
    const stop = new AbortController();
    const answer = engine.fetch(path, { ...init, headers: { accept, ...init.headers }, signal: stop.signal }).then(read);
    try {
      return await Promise.race([answer, missing]);
    } catch (error) {
      error.message = `${init.method ?? 'GET'} ${path} as ${accept}: ${error.message}`;
      throw error;
    } finally {
      stop.abort();
    }
  };
  const json = (path, form = '') =>
    asked(path, `application/json${form}`, async (response) => {
      assert.equal(response.status, 200, path);
      return response.json();
    });
  return { asked, json };
}

/** All that the API server serves, as its discovery lists it. `path` is that of the objects of one namespace, if they are in any. */
async function everyKind(json) {
  const discovery = ';g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const groups = (await Promise.all(['/api', '/apis'].map((path) => json(path, discovery)))).flatMap(({ items }) => items);
  return groups.flatMap(({ metadata: { name: group = '' }, versions }) =>
    versions.flatMap(({ version, resources }) => {
      const base = `${group ? `/apis/${group}` : '/api'}/${version}`;
      return resources.map(({ resource, scope, verbs, subresources, responseKind: { kind } }) => ({
        everywhere: `${base}/${resource}`,
        path: `${base}/${scope === 'Namespaced' ? 'namespaces/default/' : ''}${resource}`,
        apiVersion: group ? `${group}/${version}` : version,
        kind,
        verbs,
        subresources,
      }));
    }),
  );
}

testWithoutRest('nothing that the views ask for of any kind needs the rest of the module', async (lacking) => {
  const { asked, json } = asking(lacking);
  for (const path of OWN) {
    await asked(`/kubetab/${path}`, '*/*', async (response) => {
      assert.equal(response.status, 200, path);
      await response.arrayBuffer();
    });
  }
  // A cluster from a link and one from a file, of somebody whose browser has everything.
  const theirs = await startEngine({ wasm: join(built, 'kubetab.wasm'), snapshot, onLog: () => {} });
  const bundles = [];
  for (const as of ['compact', '']) bundles.push(await (await theirs.fetch(`/kubetab/bundle?as=${as}`)).arrayBuffer());
  await theirs.close();
  for (const body of bundles) {
    const found = await asked('/kubetab/bundle', '*/*', (response) => response.json(), { method: 'POST', body });
    assert.ok(found.exact, JSON.stringify(found));
  }
  for (const { serverRelativeURL } of Object.values((await json('/openapi/v3')).paths)) await json(serverRelativeURL);

  const collections = (await everyKind(json)).filter(({ verbs }) => verbs.includes('list'));
  assert.ok(collections.length > 50, `${collections.length} kinds`);
  for (const { everywhere: path, verbs } of collections) {
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

const NAME = 'none';
const upstream = execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', 'k8s.io/api'], { cwd: root, encoding: 'utf8' }).trim();

/** An object with a value in every field, with which upstream tests its codecs; of a kind that has none there, an empty one. */
function example(apiVersion, kind) {
  const path = join(upstream, 'testdata/HEAD', `${apiVersion.includes('/') ? apiVersion.replace('/', '.') : `core.${apiVersion}`}.${kind}.json`);
  const { metadata, ...fields } = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { apiVersion, kind };
  return { ...fields, metadata: { name: NAME, labels: metadata?.labels, annotations: metadata?.annotations } };
}

testWithoutRest('nothing that is done to an object of any kind needs the rest of the module', async (lacking) => {
  const { asked, json } = asking(lacking);
  // Most are refused, each by the code of its kind; only an answer that does not come is a failure.
  const send = (method, path, type, body) => {
    const init = { method, headers: type && { 'content-type': type }, body: body && JSON.stringify(body) };
    return asked(path, 'application/json', (response) => response.text(), init);
  };
  const kinds = await everyKind(json);
  assert.ok(kinds.length > 50, `${kinds.length} kinds`);
  const dry = '?dryRun=All&fieldManager=test';
  for (const { path, apiVersion, kind, verbs, subresources } of kinds) {
    const full = example(apiVersion, kind);
    const empty = { apiVersion, kind, metadata: full.metadata };
    const actions = {
      create: async () => {
        await send('POST', path + dry, 'application/json', full);
        await send('POST', path + dry, 'application/json', empty);
      },
      update: () => send('PUT', `${path}/${NAME}${dry}`, 'application/json', full),
      patch: async () => {
        await send('PATCH', `${path}/${NAME}${dry}`, 'application/apply-patch+yaml', full);
        await send('PATCH', `${path}/${NAME}${dry}`, 'application/merge-patch+json', {});
      },
      delete: () => send('DELETE', `${path}/${NAME}${dry}`),
      deletecollection: () => send('DELETE', `${path}${dry}&labelSelector=none`),
    };
    for (const verb of verbs) await actions[verb]?.();
    for (const { subresource, verbs } of subresources ?? []) {
      const of = `${path}/${NAME}/${subresource}`;
      const actions = {
        get: () => send('GET', of),
        create: () => send('POST', of + dry, 'application/json', {}),
        update: () => send('PUT', of + dry, 'application/json', full),
        patch: () => send('PATCH', of + dry, 'application/merge-patch+json', {}),
      };
      for (const verb of verbs) await actions[verb]?.();
    }
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

testWithoutRest('the DNS of a prepared cluster answers without the rest of the module', async (lacking) => {
  const { asked, json } = asking(lacking);
  const kinds = await everyKind(json);
  for (const file of ['1-coredns.yaml', '2-kube-proxy.yaml']) {
    for (const body of readFileSync(join(root, 'tutorials/clusters/system', file), 'utf8').split(/^---$/m)) {
      const [, apiVersion] = /^apiVersion: (.*)$/m.exec(body);
      const [, kind] = /^kind: (.*)$/m.exec(body);
      const [, name] = /^ {2}name: (.*)$/m.exec(body);
      const { path } = kinds.find((k) => k.apiVersion === apiVersion && k.kind === kind);
      const at = `${path.replace('/default/', '/kube-system/')}/${name}?fieldManager=kubectl`;
      const init = { method: 'PATCH', body, headers: { 'content-type': 'application/apply-patch+yaml' } };
      await asked(at, 'application/json', async (response) => assert.equal(response.status, 201, `${at}: ${await response.text()}`), init);
    }
  }
  const { runs } = await sit(lacking.engine);
  for (const line of [
    'kubectl rollout status -n kube-system deployment/coredns',
    'kubectl run asker --rm -i --restart=Never --image=busybox -- nslookup kubernetes.default.svc.cluster.local < /dev/null',
    `kubectl get configmap -n kube-system coredns -o yaml | sed 's/^        errors/&\\n        log/' | kubectl apply -f -`,
    'kubectl rollout restart -n kube-system deployment/coredns',
    'kubectl rollout status -n kube-system deployment/coredns',
    'kubectl run asker --rm -i --restart=Never --image=busybox -- nslookup kubernetes.default.svc.cluster.local < /dev/null',
    "kubectl logs -n kube-system -l k8s-app=kube-dns | grep 'NOERROR qr,aa,rd 106'",
  ]) {
    const printed = await Promise.race([runs(line), lacking.missing]);
    assert.match(printed, /code 0\r?\n/, `${line}\n${printed.slice(-500)}`);
  }
});
