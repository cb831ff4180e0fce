import { beforeEach, expect, test, vi } from 'vitest';

/** Where an address leads to when the page is loaded with it. */
async function at(hash: string) {
  vi.resetModules();
  vi.stubGlobal('location', { hash });
  vi.stubGlobal('addEventListener', () => undefined);
  const { route, place } = await import('../../src/page/frame/route');
  return [route.value.view, route.value.path, place()];
}

beforeEach(() => {
  vi.unstubAllGlobals();
});

test.each([
  ['', ['cluster', '', '#cluster']],
  ['#settings', ['settings', '', '#settings']],
  ['#/settings', ['settings', '', '#settings']],
  ['#lessons', ['lessons', '', '#lessons']],
  ['#/lessons', ['lessons', '', '#lessons']],
  ['#/lesson/read/watch/3', ['lessons', '/read/watch/3', '#/lesson/read/watch/3']],
  ['#lesson/read/watch', ['lessons', '/read/watch', '#/lesson/read/watch']],
  [
    '#/cluster/api/v1/namespaces/x/pods',
    ['cluster', '/api/v1/namespaces/x/pods', '#cluster/api/v1/namespaces/x/pods'],
  ],
  ['#/nowhere', ['cluster', '', '#cluster']],
])('%s', async (hash, place) => {
  expect(await at(hash)).toEqual(place);
});
