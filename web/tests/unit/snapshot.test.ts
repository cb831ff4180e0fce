import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { encode } from '../../../wasm/snapshot/format.mjs';
import type { ModuleInfo } from '../../src/engine/module';
import { fetchSnapshot } from '../../src/engine/snapshot';

// A snapshot that cannot be used costs one line. What the engine then does: tests/browser/snapshot.test.ts.

const MODULE = 'a'.repeat(64);
const info = {
  sha256: MODULE,
  snapshot: { url: 'kubetab.snapshot', bytes: 1 },
} as ModuleInfo;

let warnings: string[];
beforeEach(() => {
  vi.stubGlobal('__PACKED__', false);
  warnings = [];
  vi.spyOn(console, 'warn').mockImplementation((line: string) => void warnings.push(line));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Of an engine whose memory has changed in many places. */
async function written(module = MODULE): Promise<Uint8Array<ArrayBuffer>> {
  const after = new Uint8Array(6 << 20).map((_, i) => i * 7 + (i >> 8));
  const state = { module, pages: after.length >> 16 } as Parameters<typeof encode>[0];
  return new Uint8Array(await encode(state, new Uint8Array(after.length), after));
}

function serve(body: Uint8Array<ArrayBuffer> | null): void {
  const answer = () =>
    body ? new Response(body) : new Response(null, { status: 404, statusText: 'Not Found' });
  vi.stubGlobal('fetch', async () => answer());
}

const read = () => fetchSnapshot(info, new URL('http://localhost/'), () => {});

test('one that is whole is read', async () => {
  serve(await written());
  expect((await read())?.header.module).toBe(MODULE);
  expect(warnings).toEqual([]);
});

test.each([
  ['missing', async () => null, '404'],
  ['torn', async () => (await written()).slice(0, 3 << 20), 'it is torn'],
  ['torn in its header', async () => (await written()).slice(0, 60), 'it is torn'],
  ['altered', async () => (await written()).fill(0, -4096), 'not what was written'],
  ['of another module', () => written('b'.repeat(64)), 'it is of another module'],
])('one that is %s is not used, and one line says why', async (_what, body, why) => {
  serve(await body());
  expect(await read()).toBeNull();
  expect(warnings).toEqual([
    expect.stringMatching(`^kubetab: the engine is started without its snapshot: .*${why}`),
  ]);
});
