import { expect, test } from 'vitest';
import { exchange, WINDOW } from '../../src/client/exchange';
import type { BeginRequest, FromExchange, ToEngine, ToExchange } from '../../src/protocol';

/** An engine of a test: what it was asked, and the far end of the channel. */
class FakeEngine {
  begin: BeginRequest | null = null;
  readonly got: ToExchange[] = [];
  #waiting: (() => void)[] = [];

  postMessage(message: ToEngine): void {
    if (message.type !== 'request') throw new Error(message.type);
    this.begin = message;
    message.port.onmessage = ({ data }: MessageEvent<ToExchange>) => {
      this.got.push(data);
      for (const wake of this.#waiting.splice(0)) wake();
    };
  }
  say(...messages: FromExchange[]): void {
    for (const message of messages) this.begin?.port.postMessage(message);
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
  const response = exchange(engine, new Request('http://x/', init), '/api/v1/pods?watch=1', lost);
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

test('a body goes piece by piece, the next when the last was taken', async () => {
  const sent = new Uint8Array(150 * 1024).map((_, i) => i % 251);
  const { engine, response } = start({ method: 'PUT', body: sent });
  expect(engine.begin?.hasBody).toBe(true);
  const got: Uint8Array[] = [];
  for (let piece = 0; piece < 3; piece++) {
    await engine.until(() => engine.got.length > piece);
    expect(engine.got.length).toBe(piece + 1);
    const message = engine.got[piece];
    if (message?.type === 'body') got.push(message.bytes);
    engine.say({ type: 'pull' });
  }
  await engine.until(() => engine.got.length > 3);
  expect(engine.got[3]).toEqual({ type: 'body-end' });
  expect(Buffer.concat(got).equals(Buffer.from(sent))).toBe(true);
  engine.say({ type: 'head', status: 204, headers: [] }, { type: 'end' });
  expect((await response).status).toBe(204);
});

test('a body that breaks never looks complete to the engine', async () => {
  const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('cable')) });
  const { engine, response } = start({
    method: 'POST',
    body: broken,
    duplex: 'half',
  } as RequestInit);
  await expect(response).rejects.toThrow('cable');
  await engine.until(() => engine.got.length > 0);
  expect(engine.got).toEqual([{ type: 'cancel' }]);
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
