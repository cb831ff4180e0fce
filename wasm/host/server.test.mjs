import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { startEngine } from './engine.mjs';
import { serve } from './server.mjs';
import { buildTestEngine, until } from './testengine.mjs';

let engine;
let server;

before(async () => {
  engine = await startEngine({ wasm: buildTestEngine(), onLog() {} });
  await engine.stage('ready');
  server = await serve(engine);
});

after(async () => {
  await server.close();
  await engine.close();
});

const atRest = () => until('no request is in flight', () => engine.stats().requests === 0);

test('a request is answered over the socket', async () => {
  const response = await fetch(`${server.url}/echo`, { method: 'POST', body: 'hello', headers: { 'x-value': 'a' } });
  assert.equal(response.status, 202);
  assert.equal(response.headers.get('x-value'), 'a');
  assert.equal(response.headers.get('content-length'), '5');
  assert.equal(await response.text(), 'hello');
  assert.equal((await fetch(`${server.url}/nowhere`)).status, 404);
  const head = await fetch(`${server.url}/readyz`, { method: 'HEAD' });
  assert.equal(head.headers.get('content-length'), '2');
});

test('a stream arrives event by event, its head before the first', async () => {
  const response = await fetch(`${server.url}/watch`);
  const reader = response.body.getReader();
  for (const event of ['one', 'two']) {
    await fetch(`${server.url}/event`, { method: 'POST', body: event });
    assert.equal(new TextDecoder().decode((await reader.read()).value), event);
  }
  assert.equal(engine.stats().requests, 1);
  await reader.cancel();
  await atRest();
});

test('a client that closes the connection ends the request in the engine', async () => {
  const open = request(`${server.url}/watch`);
  const response = await new Promise((resolve) => open.on('response', resolve).end());
  assert.equal(response.statusCode, 200);
  assert.equal(engine.stats().requests, 1);
  open.destroy();
  await atRest();
});

test('5 MB go up and down', async () => {
  const body = Buffer.alloc(5 << 20, 'kubetab ');
  for (const duplex of [undefined, 'half']) {
    const sent = duplex ? new Blob([body]).stream() : body; // with and without Content-Length
    const response = await fetch(`${server.url}/echo`, { method: 'POST', body: sent, duplex });
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(body));
  }
});

test('a client that does not read holds the handler back', async () => {
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.pause();
  socket.write('GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until('the handler runs', () => engine.stats().requests === 1);
  const before = engine.stats().heapBytes;
  for (let i = 0; i < 20; i++) await fetch(`${server.url}/readyz`);
  assert.ok(engine.stats().heapBytes < before + (16 << 20));
  assert.equal(engine.stats().requests, 1);
  socket.destroy();
  await atRest();
});

test('an answer that comes before the end of the body reaches the client, and the connection goes on', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const body = Buffer.alloc(8 << 20);
  for (const path of ['/nowhere', '/panic', '/nowhere']) {
    const ask = request(`${server.url}${path}`, { method: 'POST', agent, headers: { 'Content-Length': body.length } });
    const sent = new Promise((resolve, reject) => ask.on('finish', resolve).on('error', reject));
    const answer = new Promise((resolve, reject) => ask.on('response', resolve).on('error', reject));
    ask.end(body);
    const response = await answer;
    assert.ok(response.statusCode >= 400);
    response.resume();
    await sent;
  }
  agent.destroy();
});

test('panics are reported: a Status before the head, a broken connection after it', async () => {
  const response = await fetch(`${server.url}/panic`);
  assert.equal(response.status, 500);
  const status = await response.json();
  assert.equal(status.kind, 'Status');
  assert.match(status.message, /broken invariant/);
  await assert.rejects(fetch(`${server.url}/late-panic`).then((late) => late.text()));
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
});

test('an upgrade is refused with a Status and the connection goes on', async () => {
  const { port } = new URL(server.url);
  const ask = request({ port, path: '/watch', headers: { Connection: 'Upgrade', Upgrade: 'websocket' } });
  const response = await new Promise((resolve) => ask.on('response', resolve).end());
  assert.equal(response.statusCode, 501);
  let text = '';
  for await (const part of response) text += part;
  assert.equal(JSON.parse(text).kind, 'Status');
});

test('an address in use is an error', async () => {
  await assert.rejects(serve(engine, { port: Number(new URL(server.url).port) }), { code: 'EADDRINUSE' });
});
