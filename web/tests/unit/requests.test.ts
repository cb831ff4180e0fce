import { expect, test, vi } from 'vitest';
import { Outbox } from '../../src/engine/outbox';
import { Requests } from '../../src/engine/requests';
import type { KubetabEngine } from '../../src/engine/seam';
import type { Answers, BeginRequest, FromExchange } from '../../src/protocol';

function setUp(caughtUp?: () => Promise<void> | null) {
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
    arrived: record('arrived'),
    missing: record('missing'),
    close: record('close'),
  };
  const requests = new Requests(caughtUp);
  const begin = (
    party: Party,
    id: number,
    body: BeginRequest['body'] = null,
    method = 'GET',
    url = '/api',
  ) => {
    const message: BeginRequest = {
      type: 'request',
      id,
      method,
      url,
      headers: [
        ['accept', 'a'],
        ['accept', 'b'],
      ],
      body,
      window: 7,
    };
    requests.begin(engine, message, party.outbox);
  };
  return { calls, requests, engine, begin };
}

/** One of those that ask, and what it was told. */
class Party {
  readonly told: FromExchange[] = [];
  readonly outbox = new Outbox({
    postMessage: ({ answers }: Answers) => void this.told.push(...answers),
  });
}

test('a request is one call, with its headers as lines', () => {
  const { calls, begin } = setUp();
  begin(new Party(), 5);
  const body = new Uint8Array([1, 2]);
  begin(new Party(), 5, body);
  begin(new Party(), 5, 'follows');
  const headers = 'accept\na\naccept\nb';
  expect(calls).toEqual([
    ['request', 1, 'GET', '/api', headers, null, 7],
    ['request', 2, 'GET', '/api', headers, body, 7],
    ['request', 3, 'GET', '/api', headers, 'follows', 7],
  ]);
});

test('an answer reaches its party under the number it gave, and is over', () => {
  const { requests, begin } = setUp();
  const [other, party] = [new Party(), new Party()];
  begin(other, 8);
  begin(party, 8);
  requests.head(2, 200, ['a', '1', 'a', '2']);
  for (const part of ['x', 'y', 'z']) requests.chunk(2, new Uint8Array(Buffer.from(part)));
  requests.end(2);
  expect(party.told).toEqual([
    {
      type: 'whole',
      id: 8,
      status: 200,
      headers: [
        ['a', '1'],
        ['a', '2'],
      ],
      bytes: new Uint8Array(Buffer.from('xyz')),
    },
  ]);
  expect(other.told).toEqual([]);
  expect(requests.count).toBe(1);
});

test('what a party says reaches the request it has begun, and no other', () => {
  const { calls, requests, begin } = setUp();
  const [a, b] = [new Party(), new Party()];
  begin(a, 1);
  begin(b, 1);
  calls.length = 0;
  const bytes = new Uint8Array([1]);
  requests.tell({ type: 'body', id: 1, bytes }, b.outbox);
  requests.tell({ type: 'body-end', id: 1 }, b.outbox);
  requests.tell({ type: 'credit', id: 1, bytes: 9 }, a.outbox);
  requests.tell({ type: 'credit', id: 2, bytes: 9 }, a.outbox);
  requests.tell({ type: 'cancel', id: 1 }, b.outbox);
  requests.tell({ type: 'credit', id: 1, bytes: 9 }, b.outbox);
  expect(calls).toEqual([
    ['body', 2, bytes],
    ['body', 2, null],
    ['credit', 1, 9],
    ['cancel', 2],
  ]);
  requests.pull(1);
  expect(a.told).toEqual([{ type: 'pull', id: 1 }]);
});

test('a crowd of one party waits for its turns, and another party does not', async () => {
  const { calls, requests, begin } = setUp();
  const [crowd, other] = [new Party(), new Party()];
  const url = '/api/v1/pods?watch=true';
  const begun = () => calls.filter(([name]) => name === 'request').map(([, id]) => id);
  for (let i = 1; i <= 100; i++) begin(crowd, i, null, 'GET', url);
  begin(other, 1, null, 'GET', url);
  begin(crowd, 101, null, 'GET', '/readyz');
  begin(crowd, 102, 'follows', 'POST', '/api/v1/namespaces');
  const first = [1, 2, 3, 4, 5, 6, 7, 8, 101, 102, 103];
  expect(begun()).toEqual(first);
  // A watch gives its turn back when its answer begins; one that was cancelled while it waited is never begun.
  requests.tell({ type: 'cancel', id: 9 }, crowd.outbox);
  requests.head(1, 200, []);
  await new Promise((done) => setImmediate(done));
  expect(begun()).toEqual([...first, 10]);
  requests.cancelAllOf(crowd.outbox);
  await new Promise((done) => setImmediate(done));
  expect(begun()).toEqual([...first, 10]);
  expect(requests.count).toBe(1);
});

test('changes that all wait, as for a webhook, hold back no read', async () => {
  const { calls, requests, begin } = setUp();
  const party = new Party();
  const path = '/api/v1/namespaces/default/configmaps';
  const begun = () => calls.filter(([name]) => name === 'request').map(([, id]) => id);
  for (let i = 1; i <= 20; i++) begin(party, i, new Uint8Array([1]), 'POST', path);
  begin(party, 21, null, 'GET', path);
  const first = [1, 2, 3, 4, 5, 6, 7, 8, 21];
  expect(begun()).toEqual(first);
  requests.head(8, 201, []);
  await new Promise((done) => setImmediate(done));
  expect(begun()).toEqual([...first, 9]);
});

test('the API server hears how long a request waited, if that was long', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const { calls, requests, begin } = setUp();
    const party = new Party();
    for (let i = 1; i <= 24; i++) begin(party, i, null, 'GET', '/api/v1/pods?watch=true');
    const headers = () => calls.map(([, , , , lines]) => lines);
    const answerAll = async () => {
      for (let i = 1; i <= calls.length; i++) requests.head(i, 200, []);
      await new Promise((done) => setImmediate(done));
    };
    vi.advanceTimersByTime(400); // not as long as a turn lasts
    await answerAll();
    expect(headers()).toEqual(Array(16).fill('accept\na\naccept\nb'));
    vi.advanceTimersByTime(600);
    expect(headers().slice(16)).toEqual(
      Array(8).fill('accept\na\naccept\nb\nKubetab-Waited\n1000'),
    );
  } finally {
    vi.useRealTimers();
  }
});

test('what Go answers at once leaves its turn to the next', () => {
  const { calls, requests, engine, begin } = setUp();
  const party = new Party();
  engine.request = (id) => {
    calls.push(['request', id]);
    requests.head(id, 200, []);
    requests.end(id);
  };
  for (let i = 1; i <= 100; i++) begin(party, i, null, 'GET', '/api/v1/pods');
  expect(calls).toHaveLength(100);
});

test('only the requests of a party that is gone are cancelled', () => {
  const { calls, requests, begin } = setUp();
  const gone = new Party();
  begin(gone, 1);
  begin(new Party(), 1);
  begin(gone, 2);
  requests.cancelAllOf(gone.outbox);
  expect(calls.filter(([name]) => name === 'cancel')).toEqual([
    ['cancel', 1],
    ['cancel', 3],
  ]);
  expect(requests.count).toBe(1);
});

test('when the engine dies everybody is told', () => {
  const { requests, begin } = setUp();
  const party = new Party();
  begin(party, 3);
  requests.failAll('it crashed');
  expect(party.told).toEqual([{ type: 'failed', id: 3, message: 'it crashed' }]);
  expect(requests.count).toBe(0);
});

test('calls for requests that are over are ignored', () => {
  const { requests } = setUp();
  requests.head(9, 200, []);
  requests.chunk(9, new Uint8Array(1));
  requests.end(9);
  requests.abort(9, 'late');
  expect(requests.count).toBe(0);
});

test('the events of one turn for many are few messages, each in its place', async () => {
  const WATCHES = 200;
  const { requests, begin } = setUp();
  const messages: Answers[] = [];
  const port = { postMessage: (message: Answers) => void messages.push(message) };
  const outbox = new Outbox(port, () => 0); // no time passes
  const party = Object.assign(new Party(), { outbox });
  for (let id = 1; id <= WATCHES; id++) {
    begin(party, id);
    requests.head(id, 200, []);
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(messages.flatMap(({ answers }) => answers).length).toBe(WATCHES);
  messages.length = 0;
  for (let round = 0; round < 2; round++) {
    for (let id = 1; id <= WATCHES; id++) requests.chunk(id, new Uint8Array([round]));
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(messages.length).toBeLessThanOrEqual(10);
  const told = messages.flatMap(({ answers }) => answers);
  for (let id = 1; id <= WATCHES; id++) {
    const bytes = told.flatMap((m) => (m.type === 'chunk' && m.id === id ? [...m.bytes] : []));
    expect(bytes).toEqual([0, 1]);
  }
});

test('an answer to a change waits until the change is kept, and others do not', async () => {
  let isKept: () => void = () => undefined;
  let kept: Promise<void> | null = null;
  const { requests, begin } = setUp(() => kept);
  const party = new Party();
  const answered = () => party.told.filter(({ type }) => type !== 'pull').map(({ id }) => id);
  begin(party, 1, null, 'POST');
  begin(party, 2, null, 'GET', '/kubetab/terminals/t1/output');
  begin(party, 3);
  kept = new Promise((resolve) => {
    isKept = resolve;
  });
  for (const id of [1, 2, 3]) {
    requests.head(id, 200, []);
    requests.chunk(id, new Uint8Array([id]));
    requests.end(id);
  }
  await new Promise((resolve) => setTimeout(resolve));
  expect(answered()).toEqual([3]);
  kept = null;
  isKept();
  await expect.poll(answered).toEqual([3, 1, 2]);
  begin(party, 4, null, 'DELETE');
  requests.head(4, 200, []);
  requests.end(4);
  expect(answered()).toEqual([3, 1, 2, 4]);
});
