// What happens when the rest of the module cannot be had. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { skip, startOffline } from './offline.mjs';

const MISSING = /could not be\s+downloaded: there is no network\./;
let engine;
let runs;
let connect;

before(async () => {
  if (!skip) ({ engine, runs, connect } = await startOffline());
});
after(() => engine?.close());

let made = 0;

const json = (body) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

async function ordinaryThingsWork() {
  assert.match(await runs(`kubectl get ns default -o name && kubectl create cm made-${++made} --from-literal=a=b`), /namespace\/default[^]*created[^]*code 0/);
  assert.equal((await engine.fetch('/api/v1/namespaces/default/configmaps', json({ metadata: { generateName: 'made-' } }))).status, 201);
  assert.equal(await (await engine.fetch('/readyz')).text(), 'ok');
}

// Each calls something else that is not in the first part: of the API server, of kubectl, of a program, of the shell.
const seldom = [
  'kubectl get --raw /statusz',
  'kubectl get deviceclasses -o yaml',
  'kubectl completion fish > /dev/null',
  'kubectl kustomize .',
  "echo '{\"a\":[1,2]}' | jq '.a | combinations'",
  'for i in 1 2; do kubectl get --raw /statusz; done',
];

test('what needs the rest fails alone while there is no network, and works when there is', { skip, timeout: 600_000 }, async () => {
  await ordinaryThingsWork();
  for (const line of seldom) {
    const printed = await runs(line);
    assert.match(printed, MISSING, line);
    assert.doesNotMatch(printed, /code 0/, line);
    await ordinaryThingsWork();
  }
  await assert.rejects(engine.fetch('/statusz'), MISSING);

  connect();
  for (const line of seldom.slice(0, 3)) assert.match(await runs(line), /code 0/, line);
  await ordinaryThingsWork();
  assert.equal((await engine.fetch('/statusz')).status, 200);
});
