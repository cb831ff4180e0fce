import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DownloadError, download, downloadNow, together } from '../../src/engine/download';

beforeEach(() => {
  vi.stubGlobal('__PACKED__', false);
});
afterEach(() => {
  vi.unstubAllGlobals();
});

test('a download is not there as long as a part of it has not begun', () => {
  const told: number[][] = [];
  const [ofModule, ofSnapshot] = together([{ url: 'm', bytes: 100, br: 20 }, null], (...now) =>
    told.push(now),
  );
  ofSnapshot?.(40, 40, 10);
  ofModule?.(50, 100, 30);
  ofModule?.(100, 100, 30);
  expect(told).toEqual([
    [40, 140, 30],
    [90, 140, 40],
    [140, 140, 40],
  ]);
});

test('what is not fetched is not waited for', () => {
  const told: number[][] = [];
  const [ofModule] = together([{ url: 'm', bytes: 100 }, null], (...now) => told.push(now));
  ofModule?.(100, 100, 100);
  expect(told).toEqual([[100, 100, 100]]);
});

const SITE = new URL('https://example.com/docs/kubetab/');
const WORDS = new TextEncoder().encode('the module');
const REST = { url: 'kubetab.1.rest.wasm', bytes: WORDS.length };

/** What comes in pieces of one byte is the same. */
function sent(bytes: Uint8Array): Response {
  const pieces = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  return new Response(pieces, { headers: { 'content-type': 'text/plain' } });
}

test.each([
  ['as it lies there', gzipSync(WORDS)],
  ['and says that it is a coding, which browsers unpack', WORDS],
])('a file that is there as .gz alone is unpacked where the host sends it %s', async (_, bytes) => {
  vi.stubGlobal('__PACKED__', true);
  const asked = vi.fn(async (_: URL) => sent(bytes));
  vi.stubGlobal('fetch', asked);
  const response = await download(REST, SITE);
  expect(asked.mock.calls[0]?.[0].href).toBe(`${SITE.href}kubetab.1.rest.wasm.gz`);
  expect(response.headers.get('content-type')).toBe('application/wasm');
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(WORDS);
});

/** A network that has answers for requests that wait, one for each; null is none. */
function answers(...list: (Uint8Array | number | null)[]): string[] {
  const asked: string[] = [];
  vi.stubGlobal(
    'XMLHttpRequest',
    class {
      status = 0;
      statusText = '';
      response: ArrayBuffer | null = null;
      open(_method: string, url: URL, isAsync: boolean): void {
        expect(isAsync).toBe(false);
        asked.push(url.href);
      }
      send(): void {
        const answer = list.shift() ?? null;
        if (answer === null) throw new Error('NetworkError');
        this.status = typeof answer === 'number' ? answer : 200;
        if (typeof answer !== 'number') this.response = new Uint8Array(answer).buffer;
      }
    },
  );
  return asked;
}

test('a fetch that fails while the engine stands still is tried again, also of what the service worker has kept', () => {
  const asked = answers(null, 503, WORDS);
  expect(downloadNow(REST, SITE)).toEqual(WORDS);
  const address = `${SITE.href}kubetab.1.rest.wasm`;
  expect(asked).toEqual([address, `${address}?kept`, address]);
});

test('twice each is enough', () => {
  answers(null, 503, null, 503, WORDS);
  expect(() => downloadNow(REST, SITE)).toThrow(DownloadError);
});

test.each([
  ['packed', gzipSync(WORDS)],
  ['unpacked by the browser', WORDS],
])('what the engine stands still for is unpacked, too: %s', (_, bytes) => {
  vi.stubGlobal('__PACKED__', true);
  const asked = answers(bytes);
  expect(downloadNow(REST, SITE)).toEqual(WORDS);
  expect(asked).toEqual([`${SITE.href}kubetab.1.rest.wasm.gz`]);
});
