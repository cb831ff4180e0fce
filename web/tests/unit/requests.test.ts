import { expect, test } from 'vitest';
import { Requests } from '../../src/engine/requests';
import type { KubetabEngine } from '../../src/engine/seam';
import type { BeginRequest, FromExchange } from '../../src/protocol';

function setUp() {
  const calls: unknown[][] = [];
  const record =
    (name: string) =>
    (...args: unknown[]) => {
      calls.push([name, ...args]);
    };
  const engine: KubetabEngine = {
    request: record('request'),
    body: record('body'),
    credit: record('credit'),
    cancel: record('cancel'),
    stats: () => '{}',
    kept: record('kept'),
    thawed: record('thawed'),
    close: record('close'),
  };
  const requests = new Requests();
  const begin = (owner: object, body: BeginRequest['body'] = null) => {
    const { port1, port2 } = new MessageChannel();
    const message: BeginRequest = {
      type: 'request',
      method: 'GET',
      url: '/api',
      headers: [
        ['accept', 'a'],
        ['accept', 'b'],
      ],
      body,
      window: 7,
      port: port2,
    };
    requests.begin(engine, message, owner);
    return port1;
  };
  return { calls, requests, begin };
}

/** Collects messages until one of the type has come. */
function until(port: MessagePort, type: FromExchange['type']): Promise<FromExchange[]> {
  const got: FromExchange[] = [];
  return new Promise((resolve) => {
    port.onmessage = ({ data }: MessageEvent<FromExchange>) => {
      got.push(data);
      if (data.type === type) resolve(got);
    };
  });
}

test('a request begins with flat headers and its window as credit', () => {
  const { calls, begin } = setUp();
  begin({}).close();
  expect(calls).toEqual([
    ['request', 1, 'GET', '/api', ['accept', 'a', 'accept', 'b'], false],
    ['credit', 1, 7],
  ]);
});

test('a small body comes with its request', () => {
  const { calls, begin } = setUp();
  const body = new Uint8Array([1, 2]);
  begin({}, body).close();
  expect(calls.map(([name, , ...args]) => [name, args.at(-1)])).toEqual([
    ['request', true],
    ['body', body],
    ['body', null],
    ['credit', 7],
  ]);
  const { calls: others, begin: beginOther } = setUp();
  beginOther({}, 'follows').close();
  expect(others.map(([name]) => name)).toEqual(['request', 'credit']);
});

test('an answer reaches its port, and is over', async () => {
  const { requests, begin } = setUp();
  const port = begin({});
  const messages = until(port, 'whole');
  requests.head(1, 200, ['a', '1', 'a', '2']);
  for (const part of ['x', 'y', 'z']) requests.chunk(1, new Uint8Array(Buffer.from(part)));
  requests.end(1);
  expect(await messages).toEqual([
    {
      type: 'whole',
      status: 200,
      headers: [
        ['a', '1'],
        ['a', '2'],
      ],
      bytes: new Uint8Array(Buffer.from('xyz')),
    },
  ]);
  expect(requests.count).toBe(0);
  port.close();
});

test('only the requests of a party that is gone are cancelled', () => {
  const { calls, requests, begin } = setUp();
  const gone = {};
  const ports = [begin(gone), begin({}), begin(gone)];
  requests.cancelAllOf(gone);
  expect(calls.filter(([name]) => name === 'cancel')).toEqual([
    ['cancel', 1],
    ['cancel', 3],
  ]);
  expect(requests.count).toBe(1);
  requests.failAll('test is over');
  for (const port of ports) port.close();
});

test('when the engine dies everybody is told', async () => {
  const { requests, begin } = setUp();
  const port = begin({});
  const messages = until(port, 'failed');
  requests.failAll('it crashed');
  expect(await messages).toEqual([{ type: 'failed', message: 'it crashed' }]);
  port.close();
});

test('calls for requests that are over are ignored', () => {
  const { requests } = setUp();
  requests.head(9, 200, []);
  requests.chunk(9, new Uint8Array(1));
  requests.end(9);
  requests.abort(9, 'late');
  expect(requests.count).toBe(0);
});
