import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EngineLink } from '../../src/client/link';
import { PROTOCOL } from '../../src/client/version';
import type { FromEngine, ToEngine } from '../../src/protocol';

beforeEach(() => {
  // Node has no Web Locks: the link then does without, as in a browser that has none.
  vi.stubGlobal('navigator', {});
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const state = { phase: 'starting', stage: 'compile', ms: 1 } as const;

/** Waits for the hello and answers it. */
function answering(port: MessagePort, answer: unknown): Promise<ToEngine> {
  return new Promise((resolve) => {
    port.onmessage = ({ data }: MessageEvent<ToEngine>) => {
      port.postMessage(answer);
      resolve(data);
    };
  });
}

test('the first message carries the version, and the welcome the state', async () => {
  const { port1, port2 } = new MessageChannel();
  const welcome: FromEngine = {
    type: 'welcome',
    protocol: PROTOCOL,
    worker: 'w',
    lock: null,
    state,
  };
  const hello = answering(port2, welcome);
  const link = new EngineLink(port1, 'page');
  expect(await hello).toEqual({ type: 'hello', protocol: PROTOCOL, role: 'page', lock: null });
  await link.welcomed();
  expect([link.worker, link.state]).toEqual(['w', state]);
  link.close();
  port2.close();
});

test.each(['welcome', 'refused'])(
  'another version (%s) is an error that says what to do',
  async (type) => {
    const { port1, port2 } = new MessageChannel();
    void answering(port2, { type, protocol: 99, worker: 'w', lock: null, state });
    const link = new EngineLink(port1, 'page');
    await expect(link.welcomed()).rejects.toThrow(/version 99.*Close every tab/);
    expect(link.lost.aborted).toBe(true);
    port2.close();
  },
);

test('what is asked before the hello is asked behind it', async () => {
  const { port1, port2 } = new MessageChannel();
  const heard: string[] = [];
  port2.onmessage = ({ data }: MessageEvent<ToEngine>) => {
    heard.push(data.type);
    if (data.type === 'request') {
      const { id } = data;
      const answer = { type: 'whole', id, status: 204, headers: [], bytes: new Uint8Array() };
      port2.postMessage({ type: 'answers', answers: [answer] });
    }
  };
  const link = new EngineLink(port1, 'page');
  const response = await link.request(new Request('https://site.example/readyz'), '/readyz');
  expect(response.status).toBe(204);
  expect(heard).toEqual(['hello', 'request']);
  link.close();
  port2.close();
});
