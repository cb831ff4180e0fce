import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PROTOCOL } from '../../src/client/version';
import { connect, type Frame, untilThere } from '../../src/embed/frames';
import { openFrame } from '../../src/page/embed/frame';
import { eventually } from './eventually';

// The frame and the page around it, each against what is not the other.

vi.mock('../../src/engine/worker.ts?worker&url', () => ({ default: 'worker.js' }));
vi.mock('../../src/client/alone', () => ({ startAlone: (...args: unknown[]) => start(...args) }));
let start: (...args: unknown[]) => unknown;

/** Messages to this window come here; `parent` is the page around it. */
let here: EventTarget;
const around = { postMessage: vi.fn() };
const HOST = 'https://docs.example';

beforeEach(() => {
  here = new EventTarget();
  vi.stubGlobal('addEventListener', here.addEventListener.bind(here));
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('parent', around);
  vi.stubGlobal('location', new URL('https://kubetab.example/embed.html'));
  vi.stubGlobal('navigator', {});
  around.postMessage.mockClear();
});
afterEach(() => {
  vi.unstubAllGlobals();
});

interface Sent {
  readonly data: unknown;
  readonly source?: unknown;
  readonly origin?: string;
  readonly ports?: readonly MessagePort[];
}

function send({ data, source = around, origin = HOST, ports = [] }: Sent): void {
  here.dispatchEvent(Object.assign(new Event('message'), { data, source, origin, ports }));
}

/** A frame with an engine whose worker keeps the ports that it is given. */
function open(query = 'engine=asked') {
  const begun: unknown[] = [];
  const admitted: unknown[] = [];
  start = (_: unknown, beginning: unknown) => {
    begun.push(beginning);
    return { postMessage: (port: unknown) => admitted.push(port), terminate: () => undefined };
  };
  openFrame(new URLSearchParams(query));
  return { begun, admitted };
}

/** Asks for a connection, and returns the port that was sent along and what is said on its other end. */
function ask(change: Partial<Sent> & { readonly say?: object } = {}) {
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise<unknown>((resolve) => {
    port1.onmessage = ({ data }) => {
      resolve(data);
      port1.close();
    };
  });
  const { say, ...sent } = change;
  send({
    data: { type: 'kubetab-connect', protocol: PROTOCOL, ...say },
    ports: [port2],
    ...sent,
  });
  // Nobody waits for an answer that does not come.
  port1.unref?.();
  return { port: port2, answer };
}

declare global {
  interface MessagePort {
    /** Of Node. */
    unref?(): void;
  }
}

test('a frame says that it is there, and begins when it is asked', () => {
  const { begun, admitted } = open();
  const there = { type: 'kubetab-frame', protocol: PROTOCOL };
  expect(around.postMessage.mock.calls).toEqual([[there, '*']]);
  send({ data: { type: 'kubetab-ask' } });
  expect(around.postMessage).toHaveBeenCalledTimes(2);
  expect(begun).toEqual([]);
  const { port } = ask({ say: { beginning: { settings: { nodes: 3 } } } });
  expect(begun).toEqual([{ settings: { nodes: 3 } }]);
  expect(admitted.includes(port)).toBe(true);
});

test('a frame does not hear another window', () => {
  const { begun } = open();
  ask({ source: { postMessage: () => undefined } });
  send({ data: { type: 'kubetab-ask' }, source: null });
  expect(begun).toEqual([]);
  expect(around.postMessage).toHaveBeenCalledTimes(1);
});

test('a page that frames nothing hears nobody', () => {
  vi.stubGlobal('parent', globalThis);
  const { begun } = open();
  ask({ source: globalThis });
  expect(begun).toEqual([]);
});

test('a frame has the origin of its first connection for good', () => {
  const { admitted } = open();
  const first = ask();
  const other = ask({ origin: 'https://evil.example' });
  const again = ask();
  const isIn = [first, other, again].map(({ port }) => admitted.includes(port));
  expect(isIn).toEqual([true, false, true]);
});

test('a frame refuses another version, and says its own', async () => {
  const { begun } = open();
  const { answer } = ask({ say: { protocol: PROTOCOL - 1 } });
  expect(await answer).toEqual({ type: 'refused', protocol: PROTOCOL });
  expect(begun).toEqual([]);
});

test('a second port is let in, but not with a beginning of its own', async () => {
  const { begun, admitted } = open();
  ask();
  const second = ask({ say: { beginning: { settings: { nodes: 9 } } } });
  expect(await second.answer).toMatchObject({ type: 'refused', why: /has begun already/ });
  expect(admitted.includes(second.port)).toBe(false);
  const third = ask();
  expect(admitted.includes(third.port)).toBe(true);
  expect(begun).toEqual([{}]);
});

test('a frame that has an engine shows no other', async () => {
  open();
  ask();
  const { answer } = ask({ say: { type: 'kubetab-show' } });
  expect(await answer).toMatchObject({ type: 'refused', why: 'This frame has an engine already.' });
});

test('the first connection may be that of a port to show', async () => {
  const { begun } = open('engine=asked&panes=picture');
  ask({ say: { type: 'kubetab-show' }, origin: HOST });
  ask({ origin: 'https://evil.example' });
  expect(begun).toEqual([]);
});

test.each([
  [404, /^The server answered 404 to \/shop\.kubetab\.$/],
  [0, /^The bundle \/shop\.kubetab could not be reached \(offline\)\.$/],
])('a bundle in the address that is answered with %d: the page is told', async (status, why) => {
  vi.stubGlobal('document', { baseURI: 'https://kubetab.example/embed.html' });
  vi.stubGlobal('fetch', async () => {
    if (!status) throw new TypeError('offline');
    return new Response('', { status });
  });
  const { begun } = open('bundle=shop.kubetab');
  const early = ask();
  expect(await early.answer).toMatchObject({ type: 'refused', why: expect.stringMatching(why) });
  expect(around.postMessage).toHaveBeenLastCalledWith(
    { type: 'kubetab-failed', why: expect.stringMatching(why) },
    '*',
  );
  expect(begun).toEqual([]);
});

test('a bundle in the address is what the engine begins with', async () => {
  vi.stubGlobal('document', { baseURI: 'https://kubetab.example/embed.html' });
  vi.stubGlobal('fetch', async (url: URL) => new Response(url.href));
  const { begun, admitted } = open('bundle=shop.kubetab');
  // Who connects while it is being fetched waits for it.
  const { port } = ask();
  expect(begun).toEqual([]);
  await eventually(() => begun.length > 0);
  expect(begun).toHaveLength(1);
  expect(admitted.includes(port)).toBe(true);
  const [{ bundle }] = begun as [{ bundle: Uint8Array }];
  expect(new TextDecoder().decode(bundle)).toBe('https://kubetab.example/shop.kubetab');
});

/* ---------- the page around it ---------- */

/** A frame element, with what was posted to it. */
function element(sandbox: string | null = null) {
  const posted: { data: { type: string }; to: string }[] = [];
  const inside = {
    postMessage: (data: { type: string }, to: string) => posted.push({ data, to }),
  };
  const found = Object.assign(new EventTarget(), {
    contentWindow: inside,
    hasAttribute: () => sandbox !== null,
    sandbox: { contains: (token: string) => (sandbox ?? '').split(' ').includes(token) },
  }) as unknown as HTMLIFrameElement;
  const frame: Frame = { element: found, address: new URL('https://kubetab.example/embed.html') };
  return { frame, inside, posted };
}

const there = { type: 'kubetab-frame', protocol: PROTOCOL };
const KUBETAB = 'https://kubetab.example';

/** Waits for a frame that these messages come from. The last is one that ends the wait in any case. */
async function after(messages: readonly Sent[], frame: Frame): Promise<string> {
  const outcome = untilThere(frame, new AbortController().signal).then(
    () => 'there',
    (error: Error) => error.message,
  );
  for (const message of messages) send(message);
  return outcome;
}

test('a page hears its frame alone, and of its origin alone', async () => {
  const { frame, inside } = element();
  const enough = { data: { type: 'kubetab-failed', why: 'enough' }, source: inside };
  const from = (sent: Partial<Sent>) =>
    after(
      [
        { data: there, source: inside, ...sent },
        { ...enough, origin: KUBETAB },
      ],
      frame,
    );
  expect(await from({ origin: KUBETAB })).toBe('there');
  expect(await from({ origin: 'https://evil.example' })).toBe('enough');
  expect(await from({ origin: 'null' })).toBe('enough');
  expect(await from({ origin: KUBETAB, source: {} })).toBe('enough');
  expect(await from({ origin: KUBETAB, data: 'kubetab-frame' })).toBe('enough');
});

test('a frame of another version is refused in words', async () => {
  const { frame, inside } = element();
  const old = { ...there, protocol: PROTOCOL + 1 };
  expect(await after([{ data: old, source: inside, origin: KUBETAB }], frame)).toBe(
    `${KUBETAB} speaks version ${PROTOCOL + 1} of Kubetab's protocol and this page version ${PROTOCOL}.`,
  );
});

test.each([
  [null, KUBETAB, KUBETAB],
  ['allow-scripts allow-same-origin', KUBETAB, KUBETAB],
  // What frames it sends it: a frame without an origin cannot go elsewhere by itself.
  ['allow-scripts', 'null', '*'],
])('with sandbox %j, a port goes to that origin', async (sandbox, origin, to) => {
  const { frame, inside, posted } = element(sandbox);
  expect(await after([{ data: there, source: inside, origin }], frame)).toBe('there');
  const { port1, port2 } = new MessageChannel();
  connect(frame, port1);
  expect(posted.at(-1)).toMatchObject({ data: { type: 'kubetab-connect' }, to });
  port1.close();
  port2.close();
});
