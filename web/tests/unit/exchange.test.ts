import { expect, test } from 'vitest';
import { exchange, WINDOW } from '../../src/client/exchange';
import { Exchanges } from '../../src/client/exchanges';
import type { BeginRequest, FromExchange, ToEngine, ToExchange } from '../../src/protocol';

type WithoutId<M> = M extends unknown ? Omit<M, 'id'> : never;

/** An engine of a test: the one request it was asked, and what was said of it. */
class FakeEngine {
  readonly exchanges = new Exchanges((message) => this.#hear(message));
  begin: BeginRequest | null = null;
  readonly got: WithoutId<ToExchange>[] = [];
  #waiting: (() => void)[] = [];

  #hear(message: ToEngine): void {
    switch (message.type) {
      case 'request':
        this.begin = message;
        return;
      case 'body':
      case 'body-end':
      case 'credit':
      case 'cancel': {
        const { id, ...rest } = message;
        expect(id).toBe(this.begin?.id);
        this.got.push(rest);
        for (const wake of this.#waiting.splice(0)) wake();
        return;
      }
      default:
        throw new Error(message.type);
    }
  }
  /** As a port does, in a task of its own. */
  say(...messages: WithoutId<FromExchange>[]): void {
    setImmediate(() => {
      const id = this.begin?.id ?? 0;
      this.exchanges.deliver(messages.map((message) => ({ ...message, id })));
    });
  }
  /** Resolves when the request has come: its body is looked at before. */
  async begun(): Promise<BeginRequest> {
    while (!this.begin) await new Promise((resolve) => setImmediate(resolve));
    return this.begin;
  }
  /** Resolves when `found` is true of what has come so far. */
  async until(found: () => boolean): Promise<void> {
    while (!found()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

const bytes = (text: string) => new Uint8Array(new TextEncoder().encode(text));
const alive = new AbortController().signal;

function start(init?: RequestInit, lost = alive) {
  const engine = new FakeEngine();
  const response = exchange(
    engine.exchanges,
    new Request('http://x/', init),
    '/api/v1/pods?watch=1',
    lost,
  );
  return { engine, response };
}

test('the response is there with its head, before any byte of the body', async () => {
  const { engine, response } = start();
  engine.say({ type: 'head', status: 200, headers: [['content-type', 'application/json']] });
  const { status, statusText, headers, body } = await response;
  expect([status, statusText, headers.get('content-type')]).toEqual([
    200,
    'OK',
    'application/json',
  ]);
  engine.say({ type: 'chunk', bytes: bytes('one') });
  const reader = body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('one');
});

test('headers that come twice stay two', async () => {
  const { engine, response } = start();
  engine.say(
    {
      type: 'head',
      status: 200,
      headers: [
        ['warning', '299 - "a"'],
        ['warning', '299 - "b"'],
      ],
    },
    { type: 'end' },
  );
  expect((await response).headers.get('warning')).toBe('299 - "a", 299 - "b"');
});

test('what has arrived is read to its end, even when the end came first', async () => {
  const { engine, response } = start();
  engine.say(
    { type: 'head', status: 200, headers: [] },
    { type: 'chunk', bytes: bytes('a') },
    { type: 'chunk', bytes: bytes('b') },
    { type: 'end' },
  );
  expect(await (await response).text()).toBe('ab');
});

test('no credit is given while nobody reads, and the window when somebody does', async () => {
  const { engine, response } = start();
  engine.say({ type: 'head', status: 200, headers: [] });
  engine.say({ type: 'chunk', bytes: new Uint8Array(WINDOW) }, { type: 'end' });
  const { body } = await response;
  expect(engine.got.filter(({ type }) => type === 'credit')).toEqual([]);
  expect((await new Response(body).arrayBuffer()).byteLength).toBe(WINDOW);

  const open = start();
  open.engine.say({ type: 'head', status: 200, headers: [] });
  open.engine.say({ type: 'chunk', bytes: new Uint8Array(WINDOW) });
  const reader = (await open.response).body?.getReader();
  await reader?.read();
  await open.engine.until(() => open.engine.got.some(({ type }) => type === 'credit'));
  expect(open.engine.got).toEqual([{ type: 'credit', bytes: WINDOW }]);
});

test('aborting before the head cancels in the engine and rejects with the reason', async () => {
  const controller = new AbortController();
  const { engine, response } = start({ signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(response).rejects.toThrow('enough');
  await engine.until(() => engine.got.length > 0);
  expect(engine.got).toEqual([{ type: 'cancel' }]);
});

test('aborting a stream cancels in the engine and fails the body', async () => {
  const controller = new AbortController();
  const { engine, response } = start({ signal: controller.signal });
  engine.say({ type: 'head', status: 200, headers: [] });
  const reading = (await response).body?.getReader().read();
  controller.abort(new Error('enough'));
  await expect(reading).rejects.toThrow('enough');
  await engine.until(() => engine.got.length > 0);
  expect(engine.got).toEqual([{ type: 'cancel' }]);
});

test('cancelling the body cancels in the engine', async () => {
  const { engine, response } = start();
  engine.say({ type: 'head', status: 200, headers: [] });
  await (await response).body?.cancel();
  await engine.until(() => engine.got.length > 0);
  expect(engine.got).toEqual([{ type: 'cancel' }]);
});

test('a small body goes along with the request', async () => {
  const { engine, response } = start({ method: 'POST', body: '{"kind":"Pod"}' });
  expect((await engine.begun()).body).toEqual(bytes('{"kind":"Pod"}'));
  engine.say({ type: 'whole', status: 201, headers: [['a', 'b']], bytes: bytes('made') });
  const answer = await response;
  expect([answer.status, answer.statusText, answer.headers.get('a')]).toEqual([
    201,
    'Created',
    'b',
  ]);
  expect(await answer.text()).toBe('made');
  expect(engine.got).toEqual([]);
});

test('a large body goes piece by piece, the next when the last was taken', async () => {
  const sent = new Uint8Array(150 * 1024).map((_, i) => i % 251);
  const { engine, response } = start({ method: 'PUT', body: sent });
  expect((await engine.begun()).body).toBe('follows');
  const got: Uint8Array[] = [];
  for (let piece = 0; Buffer.concat(got).length < sent.length; piece++) {
    await engine.until(() => engine.got.length > piece);
    expect(engine.got.length).toBe(piece + 1);
    const message = engine.got[piece];
    if (message?.type !== 'body') throw new Error(message?.type);
    expect(message.bytes.length).toBeLessThanOrEqual(64 * 1024);
    got.push(message.bytes);
    engine.say({ type: 'pull' });
  }
  await engine.until(() => engine.got.at(-1)?.type === 'body-end');
  expect(Buffer.concat(got).equals(Buffer.from(sent))).toBe(true);
  engine.say({ type: 'whole', status: 204, headers: [], bytes: new Uint8Array() });
  expect((await response).status).toBe(204);
});

/** A body of `size` bytes that then breaks. */
const breaksAfter = (size: number): RequestInit => {
  let given = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (given || size === 0) controller.error(new Error('cable'));
      else controller.enqueue(new Uint8Array(size));
      given = true;
    },
  });
  return { method: 'POST', body, duplex: 'half' } as RequestInit;
};

test('a small body that breaks never reaches the engine', async () => {
  for (const size of [0, 1000]) {
    const { engine, response } = start(breaksAfter(size));
    await expect(response).rejects.toThrow('cable');
    expect(engine.begin).toBeNull();
  }
});

test('a large body that breaks never looks complete to the engine', async () => {
  const { engine, response } = start(breaksAfter(100_000));
  const failed = expect(response).rejects.toThrow('cable');
  await engine.begun();
  for (let pieces = 1; pieces <= 2; pieces++) {
    await engine.until(() => engine.got.length >= pieces);
    engine.say({ type: 'pull' });
  }
  await failed;
  await engine.until(() => engine.got.length > 2);
  expect(engine.got.map(({ type }) => type)).toEqual(['body', 'body', 'cancel']);
});

test('aborting while the body is looked at rejects, and nothing reaches the engine', async () => {
  const controller = new AbortController();
  const body = new ReadableStream({ pull: () => new Promise(() => undefined) });
  const init = { method: 'POST', body, duplex: 'half', signal: controller.signal } as RequestInit;
  const { engine, response } = start(init);
  controller.abort(new Error('enough'));
  await expect(response).rejects.toThrow('enough');
  expect(engine.begin).toBeNull();
});

test('streams are counted from their head to their end, whichever way they end', async () => {
  const ends: ((engine: FakeEngine, response: Response) => Promise<unknown>)[] = [
    async (engine, response) => {
      engine.say({ type: 'chunk', bytes: bytes('x') }, { type: 'end' });
      await response.text();
    },
    async (_, response) => response.body?.cancel(),
    async (engine, response) => {
      engine.say({ type: 'failed', message: 'broke' });
      await expect(response.text()).rejects.toThrow('broke');
    },
  ];
  for (const end of ends) {
    const heard: string[] = [];
    const streams = { opened: () => heard.push('opened'), over: () => heard.push('over') };
    const engine = new FakeEngine();
    const response = exchange(engine.exchanges, new Request('http://x/'), '/', alive, streams);
    engine.say({ type: 'head', status: 200, headers: [] });
    const answer = await response;
    expect(heard).toEqual(['opened']);
    await end(engine, answer);
    expect(heard).toEqual(['opened', 'over']);
  }
});

test('each of many at once hears what is said of it, and after its end nothing', async () => {
  const asked: BeginRequest[] = [];
  const exchanges = new Exchanges((message) => {
    if (message.type === 'request') asked.push(message);
  });
  const get = (name: string) => exchange(exchanges, new Request('http://x/'), `/${name}`, alive);
  const responses = [get('a'), get('b')];
  const [a, b] = asked.map(({ id }) => id) as [number, number];
  expect(a).not.toBe(b);
  exchanges.deliver([
    { type: 'head', id: a, status: 200, headers: [] },
    { type: 'whole', id: b, status: 404, headers: [], bytes: bytes('of b') },
    { type: 'chunk', id: a, bytes: bytes('of a') },
    { type: 'chunk', id: b, bytes: bytes('late') },
    { type: 'end', id: a },
  ]);
  const answers = await Promise.all(responses);
  expect(answers.map(({ status }) => status)).toEqual([200, 404]);
  expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(['of a', 'of b']);
});

test('what is whole is no stream', async () => {
  const heard: string[] = [];
  const streams = { opened: () => heard.push('opened'), over: () => heard.push('over') };
  const engine = new FakeEngine();
  const response = exchange(engine.exchanges, new Request('http://x/'), '/', alive, streams);
  engine.say({ type: 'whole', status: 200, headers: [], bytes: bytes('all') });
  expect(await (await response).text()).toBe('all');
  expect(heard).toEqual([]);
});

test('an engine that dies before the head is a 503 Status with Retry-After', async () => {
  const lost = new AbortController();
  const { response } = start(undefined, lost.signal);
  lost.abort();
  const answer = await response;
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await answer.json()).toMatchObject({ kind: 'Status', reason: 'ServiceUnavailable' });
});

test('an engine that dies in the middle fails the body', async () => {
  const lost = new AbortController();
  const { engine, response } = start(undefined, lost.signal);
  engine.say({ type: 'head', status: 200, headers: [] });
  const text = (await response).text();
  lost.abort();
  await expect(text).rejects.toThrow('engine worker ended');
});
