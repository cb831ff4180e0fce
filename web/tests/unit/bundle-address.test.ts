import { afterEach, expect, test, vi } from 'vitest';
import { fetchFile, takeSource } from '../../src/page/control/clusters/bundle-address';
import type { NotFetched } from '../../src/page/elsewhere/fetch';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const from = (query: string) => {
  const page = new URL(`https://site.example/kubetab/${query}#cluster`);
  try {
    return [takeSource(page)?.href ?? null, page.href];
  } catch (error) {
    return [(error as NotFetched).reason, page.href];
  }
};

test('an address is one of a file on the web, and is asked for once', () => {
  const left = 'https://site.example/kubetab/';
  expect(from('')).toEqual([null, `${left}#cluster`]);
  expect(from('?bundle=shop.kubetab')).toEqual([`${left}shop.kubetab`, `${left}#cluster`]);
  expect(from('?lang=zh&bundle=/a/b.kubetab')).toEqual([
    'https://site.example/a/b.kubetab',
    `${left}?lang=zh#cluster`,
  ]);
  expect(from('?bundle=https://site.example/b')[0]).toBe('https://site.example/b');
  expect(from('?bundle=//other.example/b')).toEqual(['https://other.example/b', `${left}#cluster`]);
  for (const none of ['javascript:1', 'data:,x', 'https://a:b@site.example/', 'https://[']) {
    expect(from(`?bundle=${encodeURIComponent(none)}`)).toEqual(['address', `${left}#cluster`]);
  }
});

/** A document of which a policy refuses requests, after they have failed. */
function withPolicy(refuses: boolean) {
  const target = new EventTarget();
  vi.stubGlobal('document', target);
  vi.stubGlobal('location', new URL('https://site.example/kubetab/'));
  vi.stubGlobal('fetch', async () => {
    const event = Object.assign(new Event('securitypolicyviolation'), {
      effectiveDirective: 'connect-src',
    });
    if (refuses) setTimeout(() => target.dispatchEvent(event), 1);
    throw new TypeError('Failed to fetch');
  });
}

test('what the policy of the page refuses is told from a site that does not answer', async () => {
  const theirs = new URL('https://other.example/b.kubetab');
  const own = new URL('https://site.example/b.kubetab');
  vi.useFakeTimers();
  const reason = async (source: URL) => {
    const told = fetchFile(source, 1000).catch((error: NotFetched) => [
      error.reason,
      error.message,
    ]);
    await vi.advanceTimersByTimeAsync(10_000);
    return told;
  };
  withPolicy(true);
  expect(await reason(theirs)).toEqual(['elsewhere', theirs.href]);
  expect(await reason(own)).toEqual(['elsewhere', own.href]); // which leads on to another site
  withPolicy(false);
  expect(await reason(theirs)).toEqual(['unshared', theirs.href]);
  expect(await reason(own)).toEqual(['failed', 'TypeError: Failed to fetch']);
});

test('a file is fetched up to a size, and without credentials', async () => {
  const source = new URL('https://site.example/a%20shop.kubetab');
  vi.stubGlobal('document', new EventTarget());
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
