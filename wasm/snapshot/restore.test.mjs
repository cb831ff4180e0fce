// What a visitor has made is there on the next visit, as it was. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngine } from '../host/engine.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const built = join(root, process.env.KUBETAB_WASM ?? 'build/wasm');

/** An engine of other settings, which starts from nothing. */
async function other(config, kept, earlier) {
  const engine = await startEngine({ wasm: join(built, 'kubetab.wasm'), config, kept, earlier, onLog: () => {} });
  await engine.stage('ready');
  return engine;
}

/** Whether the last visit had to fetch the rest of the module before it was ready, which is 11 MB more for a visitor. */
let neededRest;

async function visit(kept, earlier) {
  let log = '';
  const engine = await startEngine({ wasm: join(built, 'kubetab.wasm'), snapshot: join(built, 'kubetab.snapshot'), kept, earlier, onLog: (text) => (log += text) });
  assert.doesNotMatch(log, /without its snapshot|Terminating all watchers/);
  neededRest = /the rest of the module is needed/.test(log);
  engine.log = () => log;
  return engine;
}

async function ask(engine, path, method = 'GET', body, type = 'application/json') {
  const response = await engine.fetch(path, body ? { method, body: JSON.stringify(body), headers: { 'content-type': type } } : { method });
  const answer = await response.json();
  return { ...answer, http: response.status };
}

/** A watch, as an iterator over its events. */
async function* watch(engine, path) {
  const { body } = await engine.fetch(path);
  let text = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end; (end = text.indexOf('\n')) >= 0; text = text.slice(end + 1)) yield JSON.parse(text.slice(0, end));
  }
}

const maps = '/api/v1/namespaces/visited/configmaps';
const map = (name, value) => ({ metadata: { name }, data: { value } });
const kept = new Map();
let token;

test('the next visit finds what was left, and clients go on watching', async () => {
  const first = await visit(kept);
  assert.equal((await ask(first, '/api/v1/namespaces', 'POST', { metadata: { name: 'visited' } })).http, 201);
  // A controller's, without which its ADDED could come at any time.
  for await (const { object } of watch(first, `${maps}?watch=1`)) if (object.metadata.name === 'kube-root-ca.crt') break;
  const one = await ask(first, maps, 'POST', map('one', '1'));
  const gone = await ask(first, maps, 'POST', map('gone', '1'));
  const from = gone.metadata.resourceVersion;
  const patched = await ask(first, `${maps}/one`, 'PATCH', { data: { value: '2' } }, 'application/merge-patch+json');
  assert.equal((await ask(first, `${maps}/gone`, 'DELETE')).http, 200);
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  token = (await ask(first, '/api/v1/namespaces/default/serviceaccounts/default/token', 'POST', request)).status.token;
  const cluster = await ask(first, '/api/v1/namespaces/kube-system');
  await first.close();

  const second = await visit(kept);
  assert.equal(neededRest, false);
  assert.equal(second.refusedKept, undefined);
  const found = await ask(second, `${maps}/one`);
  assert.deepEqual(found, patched);
  assert.equal(found.metadata.uid, one.metadata.uid);
  assert.equal((await ask(second, `${maps}/gone`)).http, 404);
  assert.deepEqual((await ask(second, '/api/v1/namespaces/kube-system')).metadata, cluster.metadata);

  const events = watch(second, `${maps}?watch=1&resourceVersion=${from}`);
  const next = async () => {
    const { type, object } = (await events.next()).value;
    return `${type} ${object.metadata.name}`;
  };
  assert.deepEqual([await next(), await next()], ['MODIFIED one', 'DELETED gone']);
  const three = ask(second, maps, 'POST', map('three', '3'));
  assert.equal(await next(), 'ADDED three');
  assert.ok(Number((await three).metadata.resourceVersion) > Number(patched.metadata.resourceVersion));
  await events.return();
  // Nobody has opened a terminal, and its home is not there.
  assert.equal((await second.fetch('/kubetab/bundle?name=visited')).status, 200);
  await second.close();
});

test('a token of an earlier visit is still good', async () => {
  const third = await visit(kept);
  assert.equal((await ask(third, `${maps}/three`)).data.value, '3');
  const response = await third.fetch('/api', { headers: { authorization: `Bearer ${token}` } });
  assert.equal(response.status, 200);
  await third.close();
});

test('an engine with other settings goes on with the same objects, and the snapshot after it', async () => {
  const visitor = await visit(kept);
  const before = await ask(visitor, `${maps}/three`);
  await visitor.close();

  const older = await other({ emulatedVersion: '1.36', nodes: 3 }, kept);
  assert.equal(older.refusedKept, undefined);
  assert.equal((await ask(older, '/version')).emulationMinor, '36');
  assert.deepEqual(await ask(older, `${maps}/three`), before);
  assert.equal((await older.fetch('/api', { headers: { authorization: `Bearer ${token}` } })).status, 200);
  const nodes = new Set(); // which register when the engine is ready
  for await (const { object } of watch(older, '/api/v1/nodes?watch=1')) if (nodes.add(object.metadata.name).size === 3) break;
  const four = await ask(older, maps, 'POST', map('four', '4'));
  assert.ok(Number(four.metadata.resourceVersion) > Number(before.metadata.resourceVersion));
  await older.close();

  const back = await visit(kept);
  assert.equal(back.refusedKept, undefined);
  assert.deepEqual((await ask(back, `${maps}/four`)).metadata, four.metadata);
  assert.equal((await ask(back, '/version')).emulationMinor, '37');
  await back.close();
});

test('a cluster that began without the snapshot goes on without it', async () => {
  const mine = new Map();
  const first = await other({ nodes: 1 }, mine);
  const made = await ask(first, '/api/v1/namespaces', 'POST', { metadata: { name: 'visited' } });
  assert.equal(made.http, 201);
  await first.close();
  const second = await other({}, mine);
  assert.equal(second.refusedKept, undefined);
  assert.deepEqual((await ask(second, '/api/v1/namespaces/visited')).metadata.uid, made.metadata.uid);
  await second.close();

  mine.set('base', Uint8Array.of(9));
  const third = await other({}, mine);
  assert.match(third.refusedKept, /no packed entries/);
  assert.equal((await ask(third, '/api/v1/namespaces/visited')).http, 404);
  await third.close();
});

test('what is damaged is left as it is, and a new cluster starts', async () => {
  const damaged = new Map(kept);
  const [name, record] = [...kept].find(([key]) => key.startsWith('r'));
  damaged.set(name, Uint8Array.from(record, (byte, i) => (i === 5 ? byte ^ 1 : byte)));
  const before = new Map(damaged);
  const engine = await visit(damaged);
  assert.match(engine.refusedKept, /restore the objects: replay r[0-9a-f]{16}: the checksum of a record does not match/);
  assert.equal((await ask(engine, '/api/v1/namespaces/visited')).http, 404);
  assert.equal((await ask(engine, maps.replace('visited', 'default'), 'POST', map('new', '1'))).http, 201);
  assert.deepEqual(damaged, before);
  await engine.close();
});

test('of what has come and gone little is left, and who has seen it lists anew on the next visit', async () => {
  const mine = new Map();
  const first = await visit(mine);
  const path = maps.replace('visited', 'default');
  const { metadata } = await ask(first, path, 'POST', map('seen', '1'));
  const many = 300;
  await Promise.all(Array.from({ length: many }, (_, n) => ask(first, path, 'POST', map(`gone-${n}`, '1'))));
  const before = mine.size;
  assert.equal((await ask(first, path, 'DELETE')).http, 200);
  const stays = await ask(first, path, 'POST', map('stays', '1'));
  // Each deletion leaves one more entry, and one mark stands for all but the last 64 deletions.
  assert.ok(mine.size < before + many - 200, `${before} entries have become ${mine.size} when ${many} objects had gone`);
  await first.close();

  const second = await visit(mine);
  assert.equal(second.refusedKept, undefined);
  assert.deepEqual((await ask(second, `${path}/stays`)).metadata, stays.metadata);
  for (const name of ['seen', `gone-${many - 1}`]) assert.equal((await ask(second, `${path}/${name}`)).http, 404);
  const of = async (from) => (await watch(second, `${path}?watch=1&resourceVersion=${from}`).next()).value;
  const { type, object } = await of(metadata.resourceVersion);
  assert.deepEqual([type, object.code], ['ERROR', 410]);
  // Who has seen all of it go watches on.
  assert.equal((await of(String(stays.metadata.resourceVersion - 1))).object.metadata.name, 'stays');
  await second.close();
});

// A build of another release begins with other UIDs, resource versions and times than this one, as an engine does that
// began without the snapshot.
test('the cluster of another build is taken over, with the snapshot and without', async () => {
  const theirs = new Map();
  const first = await other({ nodes: 2 }, theirs);
  await ask(first, '/api/v1/namespaces', 'POST', { metadata: { name: 'visited' } });
  const one = await ask(first, maps, 'POST', map('one', '1'));
  const settled = async (engine, path, is) => {
    for await (const { object } of watch(engine, `${path}?watch=1`)) if (is(object)) return object;
  };
  const crd = {
    metadata: { name: 'boats.sea.example' },
    spec: {
      group: 'sea.example',
      scope: 'Namespaced',
      names: { plural: 'boats', kind: 'Boat' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }],
    },
  };
  await ask(first, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', 'POST', crd);
  await settled(first, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', ({ status }) => status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True'));
  const boats = '/apis/sea.example/v1/namespaces/visited/boats';
  const boat = await ask(first, boats, 'POST', { apiVersion: 'sea.example/v1', kind: 'Boat', metadata: { name: 'ada' }, spec: { sails: 2 } });
  assert.equal(boat.http, 201);
  const container = { name: 'web', image: 'nginx' };
  const deployment = { metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } } } };
  const deployments = '/apis/apps/v1/namespaces/visited/deployments';
  await ask(first, deployments, 'POST', deployment);
  const made = await settled(first, deployments, ({ status }) => status?.readyReplicas === 2);
  const pods = async (engine) => (await ask(engine, '/api/v1/namespaces/visited/pods')).items.map(({ metadata }) => metadata.uid).sort();
  const before = await pods(first);
  const system = await ask(first, '/api/v1/namespaces/kube-system');
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const { token } = (await ask(first, '/api/v1/namespaces/default/serviceaccounts/default/token', 'POST', request)).status;
  await first.close();
  const left = new Map(theirs);

  for (const [how, start] of [
    ['with the snapshot', (kept, earlier) => visit(kept, earlier)],
    ['without it', (kept, earlier) => other({ nodes: 2 }, kept, earlier)],
  ]) {
    const mine = new Map();
    const second = await start(mine, new Map(left));
    assert.equal(second.refusedKept, undefined, how);
    assert.deepEqual(second.leftOut, [], how);
    const same = async (engine) => {
      const { uid, creationTimestamp } = (await ask(engine, `${maps}/one`)).metadata;
      assert.deepEqual({ uid, creationTimestamp }, { uid: one.metadata.uid, creationTimestamp: one.metadata.creationTimestamp }, how);
      // A custom resource is served when its definition has been seen.
      let sailing = await ask(engine, `${boats}/ada`);
      while (sailing.http === 404) sailing = await ask(engine, `${boats}/ada`);
      assert.deepEqual([sailing.metadata?.uid, sailing.spec], [boat.metadata.uid, { sails: 2 }], how);
      assert.equal((await ask(engine, '/api/v1/namespaces/kube-system')).metadata.uid, system.metadata.uid, how);
      assert.equal((await engine.fetch('/api', { headers: { authorization: `Bearer ${token}` } })).status, 200, how);
      assert.deepEqual(await pods(engine), before, how);
    };
    await same(second);
    // It lives: controllers know what they have taken over.
    const scaled = await ask(second, `${deployments}/web`, 'PATCH', { spec: { replicas: 3 } }, 'application/merge-patch+json');
    assert.ok(Number(scaled.metadata.resourceVersion) > Number(made.metadata.resourceVersion));
    await settled(second, deployments, ({ status }) => status?.readyReplicas === 3);
    // Nothing else was made: controllers had seen the two Pods before they counted. They tell in order.
    const told = async () => (await ask(second, '/api/v1/namespaces/visited/events?fieldSelector=involvedObject.kind%3DReplicaSet')).items.length;
    while ((await told()) < 3);
    assert.equal(await told(), 3, how);
    await second.close();

    // From then on it is this build's own.
    const third = await (how === 'without it' ? other({ nodes: 2 }, mine) : visit(mine));
    assert.equal(third.refusedKept, undefined, how);
    assert.equal((await ask(third, `${maps}/one`)).metadata.uid, one.metadata.uid, how);
    await third.close();
  }
});

// A cluster that began without the snapshot has nothing in common with it, like one of the native server.
test('a bundle of another cluster is gone on with from the snapshot, exactly and with its clock, visit by visit', async () => {
  const theirs = await other({});
  await ask(theirs, '/api/v1/namespaces', 'POST', { metadata: { name: 'visited' } });
  const container = { name: 'web', image: 'nginx' };
  const deployment = { metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } } } };
  const deployments = '/apis/apps/v1/namespaces/visited/deployments';
  await ask(theirs, deployments, 'POST', deployment);
  for await (const { object } of watch(theirs, `${deployments}?watch=1`)) if (object.status?.readyReplicas === 2) break;
  await ask(theirs, '/kubetab/clock/step', 'POST', { seconds: 86400 });
  await ask(theirs, '/kubetab/clock', 'PUT', { speed: 60, paused: true });
  const lists = ['/api/v1/namespaces', '/api/v1/serviceaccounts', deployments, '/apis/rbac.authorization.k8s.io/v1/clusterroles'];
  const objects = async (engine) => {
    const found = {};
    for (const path of lists) for (const item of (await ask(engine, path)).items) found[`${path} ${item.metadata.namespace}/${item.metadata.name}`] = item;
    return found;
  };
  const shell = async (engine, command) => (await ask(engine, '/kubetab/run', 'POST', { command })).stdout;
  await shell(theirs, 'mkdir notes; echo of-a-person >notes/note.txt');
  const note = (engine) => shell(engine, 'cat notes/note.txt');
  const before = await objects(theirs);
  const bundle = new Uint8Array(await (await theirs.fetch('/kubetab/bundle?name=visited')).arrayBuffer());
  assert.deepEqual(await objects(theirs), before);
  await theirs.close();

  const mine = new Map([['bundle', bundle]]);
  const first = await visit(mine);
  assert.equal(neededRest, false);
  assert.equal(first.refusedKept, undefined);
  // The page has an engine look at a bundle before another one opens it.
  const looked = await first.fetch('/kubetab/bundle', { method: 'POST', body: bundle, headers: { 'content-type': 'application/vnd.kubetab.bundle' } });
  assert.equal((await looked.json()).kinds.find(({ kind }) => kind === 'Deployment').count, 1);
  assert.doesNotMatch(first.log(), /the rest of the module is needed/);
  assert.deepEqual(await objects(first), before);
  const clock = await ask(first, '/kubetab/clock');
  assert.deepEqual([clock.paused, clock.speed], [true, 60]);
  assert.ok(Date.parse(clock.now) > Date.now() + 86_000_000, clock.now);
  assert.ok(!mine.has('bundle') && mine.has('identity') && mine.has('base'));
  assert.equal(await note(first), 'of-a-person\n');
  await ask(first, '/kubetab/clock', 'PUT', { paused: false });
  // It lives: controllers know what they have, and make nothing twice.
  const uids = async (engine) => (await ask(engine, '/api/v1/namespaces/visited/pods')).items.map(({ metadata }) => metadata.uid);
  const two = await uids(first);
  await ask(first, `${deployments}/web`, 'PATCH', { spec: { replicas: 3 } }, 'application/merge-patch+json');
  for await (const { object } of watch(first, `${deployments}?watch=1`)) if (object.status?.readyReplicas === 3) break;
  const three = await uids(first);
  assert.equal(three.length, 3);
  assert.deepEqual(two.filter((uid) => !three.includes(uid)), []);
  const scaled = await ask(first, `${deployments}/web`);
  await first.close();

  const second = await visit(mine);
  assert.equal(neededRest, false);
  assert.equal(second.refusedKept, undefined);
  assert.deepEqual((await ask(second, `${deployments}/web`)).metadata.uid, scaled.metadata.uid);
  assert.deepEqual((await ask(second, '/api/v1/namespaces/visited')).metadata, before[`${lists[0]} undefined/visited`].metadata);
  assert.deepEqual((await uids(second)).sort(), three.sort());
  await second.close();

  const damaged = new Map([['bundle', bundle.slice(0, 1000)]]);
  const third = await visit(damaged);
  assert.match(third.refusedKept, /cannot be read as a bundle/);
  assert.deepEqual([...damaged.keys()], ['bundle']);
  await third.close();

  // An engine of other settings starts with it.
  const fourth = await other({ nodes: 1 }, new Map([['bundle', bundle]]));
  assert.equal(fourth.refusedKept, undefined);
  assert.equal(await note(fourth), 'of-a-person\n');
  await fourth.close();
});

test('what is damaged of another build is left as it is, and a new cluster is kept', async () => {
  const theirs = new Map(kept);
  const mine = new Map();
  // Its checksum is over name and record: that of another name does not fit.
  const revisions = [...theirs.keys()].filter((name) => name.startsWith('r')).sort();
  theirs.set(revisions[1], theirs.get(revisions[0]));
  const engine = await visit(mine, theirs);
  assert.match(engine.refusedKept, /checksum/);
  assert.equal(engine.leftOut, undefined);
  assert.equal((await ask(engine, maps.replace('visited', 'default'), 'POST', map('new', '1'))).http, 201);
  await engine.close();
  // The new cluster is kept on its own.
  const again = await visit(mine);
  assert.equal(again.refusedKept, undefined);
  assert.equal((await ask(again, `${maps.replace('visited', 'default')}/new`)).data.value, '1');
  await again.close();

  const none = await visit(new Map(), new Map([['identity', Uint8Array.of(1)]]));
  assert.match(none.refusedKept, /no packed entries/);
  await none.close();
});
