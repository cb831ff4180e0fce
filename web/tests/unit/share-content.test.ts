import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type * as content from '../../src/page/share/content';
import { LONGEST_LINK, pack, packBytes } from '../../src/page/share/link';
import type * as store from '../../src/page/share/store';

// A page under a path of its host, and the host.
vi.mock('../../src/page/engine/here', () => ({ scope: new URL('https://tab.example/sub/') }));
vi.mock('../../src/page/share/words', () => ({
  words: { short: { refused: (why: string) => `refused: ${why}`, unreachable: 'unreachable' } },
}));

const ID = 'abcdefghijklmnopqrstuvw2';
const host = vi.fn<(url: string, init?: RequestInit) => Promise<Response>>();
let modules: typeof content & typeof store;
beforeEach(async () => {
  vi.stubGlobal('fetch', (url: URL, init?: RequestInit) => host(url.href, init));
  vi.stubGlobal('navigator', { onLine: true });
  vi.resetModules(); // the host is asked once
  modules = {
    ...(await import('../../src/page/share/content')),
    ...(await import('../../src/page/share/store')),
  };
});
afterEach(() => {
  host.mockReset();
  vi.unstubAllGlobals();
});

const reason = (text: string) =>
  modules.read(text).then(
    () => 'read',
    (error: unknown) => (error as { reason: string }).reason,
  );
const answers = (body: BodyInit | null, status = 200, headers: Record<string, string> = {}) =>
  host.mockImplementation(async () => new Response(body, { status, headers }));

describe('what follows #shared/', () => {
  test('brings files or a cluster, and asks no host', async () => {
    const files = [{ path: 'a.yaml', text: 'kind: Pod\n' }];
    expect(await modules.read(await pack(files))).toEqual({ kind: 'files', files });
    const bytes = Uint8Array.from({ length: 300 }, (_, i) => i % 256);
    const text = modules.packBundle(bytes);
    expect(text).toMatch(/^b\/[\w-]+$/);
    expect(await modules.read(text)).toEqual({ kind: 'cluster', bytes });
    expect(host).not.toHaveBeenCalled();
  });

  test('has room for what a link has room for', async () => {
    const most = modules.packBundle(new Uint8Array((LONGEST_LINK * 3) / 4));
    expect(most.length).toBe(LONGEST_LINK + 2);
    expect(await reason(most)).toBe('read');
    expect(modules.packBundle(new Uint8Array((LONGEST_LINK * 3) / 4 + 1))).toBe('');
    expect(await reason(`${most}AAAA`)).toBe('large');
  });

  test('leads to the store, whose answers are looked at', async () => {
    const files = [{ path: 'a.yaml', text: 'kind: Pod\n' }];
    const type = (name: string) => ({ 'Content-Type': name });
    answers(await packBytes(files), 200, type(modules.FILES_TYPE));
    expect(await modules.read(modules.packId(ID))).toEqual({ kind: 'files', files });
    expect(host).toHaveBeenCalledWith(`https://tab.example/sub/s/${ID}`, undefined);
    answers(new Uint8Array([1, 2]), 200, type(modules.BUNDLE_TYPE));
    const bytes = new Uint8Array([1, 2]);
    expect(await modules.read(modules.packId(ID))).toEqual({ kind: 'cluster', bytes });
    answers('<script>', 200, type('text/html'));
    expect(await reason(modules.packId(ID))).toBe('format');
    answers('text', 200, type(modules.FILES_TYPE));
    expect(await reason(modules.packId(ID))).toBe('damaged');
    answers(new Uint8Array(modules.MOST_KEPT + 1), 200, type(modules.BUNDLE_TYPE));
    expect(await reason(modules.packId(ID))).toBe('large');
    for (const [status, why] of [
      [404, 'gone'],
      [410, 'gone'],
      [429, 'unreachable'],
      [500, 'unreachable'],
    ] as const) {
      answers('{}', status);
      expect(await reason(modules.packId(ID)), `${status}`).toBe(why);
    }
    host.mockRejectedValue(new TypeError('failed'));
    expect(await reason(modules.packId(ID))).toBe('unreachable');
  });

  test('asks the host for nothing but a name of the store', async () => {
    for (const text of [
      's/',
      's/../api',
      `s/${ID}/..`,
      `s/${ID.toUpperCase()}`,
      's/%2e%2e',
      'b/',
      'b/<b>',
      'c/a',
    ]) {
      expect(await reason(text), text).toBe('damaged');
    }
    expect(host).not.toHaveBeenCalled();
  });
});

describe('the store of a host', () => {
  test('is looked for once, at the page itself', async () => {
    answers(null, 200, { 'Kubetab-Share': 's' });
    expect(await Promise.all([modules.hasStore(), modules.hasStore()])).toEqual([true, true]);
    expect(host).toHaveBeenCalledTimes(1);
    expect(host.mock.calls[0]?.[0]).toBe('https://tab.example/sub/');
    expect(host.mock.calls[0]?.[1]).toMatchObject({ method: 'HEAD' });
  });

  test('is not there where the host says nothing, or does not answer', async () => {
    answers(null);
    expect(await modules.hasStore()).toBe(false);
  });

  test('is not asked for without a network', async () => {
    vi.stubGlobal('navigator', { onLine: false });
    expect(await modules.hasStore()).toBe(false);
    expect(host).not.toHaveBeenCalled();
  });

  test('gives a name, or says why it does not', async () => {
    answers(JSON.stringify({ id: ID }), 201);
    expect(await modules.keep(new Uint8Array([1]), modules.FILES_TYPE)).toBe(ID);
    expect(host.mock.calls[0]).toMatchObject([
      'https://tab.example/sub/s',
      { method: 'POST', headers: { 'Content-Type': modules.FILES_TYPE } },
    ]);
    const refused = () => modules.keep(new Uint8Array([1]), modules.FILES_TYPE);
    answers(JSON.stringify({ message: 'too many requests' }), 429);
    await expect(refused()).rejects.toThrow('refused: too many requests');
    answers('<html>', 502);
    await expect(refused()).rejects.toThrow('refused: HTTP 502');
    host.mockRejectedValue(new TypeError('failed'));
    await expect(refused()).rejects.toThrow('unreachable');
  });
});
