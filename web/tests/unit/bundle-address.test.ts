import { afterEach, expect, test, vi } from 'vitest';
import { fetchFile, type NotFetched, takeSource } from '../../src/page/control/bundle-address';

afterEach(() => vi.unstubAllGlobals());

const from = (query: string) => {
  const page = new URL(`https://site.example/kubetab/${query}#cluster`);
  try {
    return [takeSource(page)?.href ?? null, page.href];
  } catch (error) {
    return [(error as NotFetched).reason, page.href];
  }
};

test('an address is one of the same site, and is asked for once', () => {
  const left = 'https://site.example/kubetab/';
  expect(from('')).toEqual([null, `${left}#cluster`]);
  expect(from('?bundle=shop.kubetab')).toEqual([`${left}shop.kubetab`, `${left}#cluster`]);
  expect(from('?lang=zh&bundle=/a/b.kubetab')).toEqual([
    'https://site.example/a/b.kubetab',
    `${left}?lang=zh#cluster`,
  ]);
  expect(from('?bundle=https://site.example/b')[0]).toBe('https://site.example/b');
  for (const other of ['https://other.example/b', '//other.example/b', 'http://site.example/b']) {
    expect(from(`?bundle=${encodeURIComponent(other)}`)).toEqual(['elsewhere', `${left}#cluster`]);
  }
  for (const none of ['javascript:1', 'data:,x', 'https://a:b@site.example/', 'https://[']) {
    expect(from(`?bundle=${encodeURIComponent(none)}`)).toEqual(['address', `${left}#cluster`]);
  }
});

test('a file is fetched up to a size, and without credentials', async () => {
  const source = new URL('https://site.example/a%20shop.kubetab');
  const asked: RequestInit[] = [];
  let answer = () => new Response(new Uint8Array(1000));
  vi.stubGlobal('fetch', async (_: URL, init: RequestInit) => {
    asked.push(init);
    return answer();
  });
  const file = await fetchFile(source, 1000);
  expect([file.name, file.size, asked[0]?.credentials]).toEqual(['a shop.kubetab', 1000, 'omit']);
  await expect(fetchFile(source, 999)).rejects.toMatchObject({ reason: 'too-large' });
  let isCancelled = false;
  const endless = {
    pull: (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(100)),
    cancel: () => {
      isCancelled = true;
    },
  };
  answer = () => new Response(new ReadableStream(endless));
  await expect(fetchFile(source, 1000)).rejects.toMatchObject({ reason: 'too-large' });
  expect(isCancelled).toBe(true);
  answer = () => new Response('', { status: 404 });
  await expect(fetchFile(source, 1000)).rejects.toMatchObject({ reason: 'failed', message: '404' });
});
