// Databases of Pods, whose SQL comes with the rest of the module. Needs what make wasm builds.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { skip, startOffline } from './offline.mjs';

let engine;
let runs;
let connect;

before(async () => {
  if (!skip) ({ engine, runs, connect } = await startOffline());
});
after(() => engine?.close());

test('a server that has to wait for the rest keeps no other Pod waiting', { skip, timeout: 300_000 }, async () => {
  assert.match(await runs('kubectl run my --image=mysql:8.4 --env=MYSQL_ALLOW_EMPTY_PASSWORD=1'), /created[^]*code 0/);
  assert.match(await runs('kubectl run pg --image=postgres:18 --env=POSTGRES_PASSWORD=x'), /created[^]*code 0/);
  assert.match(await runs('kubectl run other --image=nginx && kubectl wait pod/other --for=condition=Ready --timeout=60s'), /condition met[^]*code 0/);
  connect();
  assert.match(await runs('kubectl wait pod/my pod/pg --for=condition=Ready --timeout=120s'), /my condition met[^]*pg condition met[^]*code 0/);
});

test('statements run, and give way to requests', { skip, timeout: 300_000 }, async () => {
  assert.match(
    await runs(`kubectl exec my -- mysql -te 'CREATE DATABASE d; USE d; CREATE TABLE t (a INT, b TEXT); INSERT INTO t VALUES (1, "x"); SELECT * FROM t'`),
    /\| {4}1 \| x {4}\|[^]*code 0/,
  );
  assert.match(await runs(`kubectl exec pg -- psql -U postgres -c "SELECT n FROM generate_series(1, 2) AS n"`), / n \r?\n---\r?\n 1\r?\n 2\r?\n\(2 rows\)[^]*code 0/);
  const endless = runs("kubectl exec my -- timeout 3 mysql -e 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n'");
  let ended = false;
  endless.then(() => (ended = true));
  const waits = [];
  while (!ended) {
    // Twenty milliseconds between two: the statement is what is to be busy.
    const began = performance.now();
    assert.equal(await (await engine.fetch('/readyz')).text(), 'ok');
    waits.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.match(await endless, /code 124/);
  assert.ok(waits.length > 5 && Math.max(...waits) < 2_000, `/readyz was asked ${waits.length} times, and took ${Math.max(...waits)} ms at most`);
});
