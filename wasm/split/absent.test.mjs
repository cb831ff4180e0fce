// What happens when the rest of the module cannot be had. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngine } from '../host/engine.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const built = resolve(root, process.env.KUBETAB_WASM ?? 'build/wasm');
const skip = !existsSync(join(built, 'kubetab.rest.wasm')) && 'the module is whole';

const MISSING = /could not be\s+downloaded: there is no network\./;
let isOnline = false;
let tryAgain;
let engine;
let terminal;
let screen = '';

before(async () => {
  if (skip) return;
  engine = await startEngine({
    wasm: join(built, 'kubetab.wasm'),
    snapshot: join(built, 'kubetab.snapshot'),
    onLog: () => {},
    later: async (_slot, part) => {
      if (part === 'rest' && !isOnline) throw new Error('there is no network.');
      return WebAssembly.compile(readFileSync(join(built, `kubetab.${part}.wasm`)));
    },
    after: (retry) => (tryAgain = retry),
  });
  const made = await engine.fetch('/kubetab/terminals', json({ columns: 200, rows: 50 }));
  terminal = `/kubetab/terminals/${(await made.json()).id}`;
  const { body } = await engine.fetch(`${terminal}/output`);
  (async () => {
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      screen += text;
      changed();
    }
  })().catch(() => {}); // the engine has ended
});
after(() => engine?.close());

const json = (body) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

let changed = () => {};
let lines = 0;

/** Types a line and resolves to what it has printed, with its exit code, when the prompt is back. */
async function type(line) {
  const mark = `end-${++lines}`;
  screen = '';
  const done = new Promise((resolve) => {
    const end = new RegExp(`\\r?\\n${mark}\\r?\\n[^]*\\$ `);
    changed = () => end.test(screen) && resolve();
  });
  // On a line of its own, because a line that cannot be run is not gone on with.
  await engine.fetch(`${terminal}/input`, { method: 'POST', body: `${line}\n` });
  await engine.fetch(`${terminal}/input`, { method: 'POST', body: `echo code $?; echo ${mark.replace('-', '-""')}\n` });
  await done;
  return screen;
}

async function ordinaryThingsWork() {
  assert.match(await type(`kubectl get ns default -o name && kubectl create cm made-${lines} --from-literal=a=b`), /namespace\/default[^]*created[^]*code 0/);
  assert.equal((await engine.fetch('/api/v1/namespaces/default/configmaps', json({ metadata: { generateName: 'made-' } }))).status, 201);
  assert.equal(await (await engine.fetch('/readyz')).text(), 'ok');
}

// Each calls something else that is not in the first part: of the API server, of kubectl, of a program, of the shell.
const seldom = [
  'kubectl get --raw /statusz',
  'kubectl get deviceclasses -o yaml',
  'kubectl explain pod.spec.containers',
  'kubectl kustomize .',
  'kubectl drain nosuch',
  "echo '{\"a\":[1,2]}' | jq '.a | combinations'",
  'for i in 1 2; do kubectl get --raw /statusz; done',
];

test('what needs the rest fails alone while there is no network, and works when there is', { skip, timeout: 600_000 }, async () => {
  await ordinaryThingsWork();
  for (const line of seldom) {
    const printed = await type(line);
    assert.match(printed, MISSING, line);
    assert.doesNotMatch(printed, /code 0/, line);
    await ordinaryThingsWork();
  }
  await assert.rejects(engine.fetch('/statusz'), MISSING);

  isOnline = true;
  tryAgain();
  for (const line of seldom.slice(0, 3)) assert.match(await type(line), /code 0/, line);
  await ordinaryThingsWork();
  assert.equal((await engine.fetch('/statusz')).status, 200);
});
