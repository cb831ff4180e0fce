import { signal } from '@preact/signals';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fill, preparing } from '../../src/page/control/clusters/prepared';
import { Refused } from '../../src/page/engine/ask';

// What is applied to a prepared cluster, where a kind comes late.

const asked = vi.hoisted(() => [] as string[]);
const located = vi.hoisted(() => ({ from: 0 }));

vi.mock('../../src/page/engine/ask', async (original) => ({
  ...(await original<typeof import('../../src/page/engine/ask')>()),
  askAsAdmin: async (_: string, path: string) => {
    asked.push(path.split('?')[0] ?? '');
    return new Response('{}');
  },
}));
vi.mock('../../src/page/engine/cluster', () => ({
  engineState: signal(null),
  notice: signal(null),
  untilReady: async () => undefined,
}));
vi.mock('../../src/page/frame/route', () => ({ go: () => {} }));
vi.mock('../../src/page/control/clusters/cluster-name', () => ({ nameCluster: async () => {} }));
vi.mock('../../src/page/control/clusters/prepared-files', () => ({
  filesOf: () => [{ text: '' }],
}));
vi.mock('../../src/page/files/language/documents', () => ({
  parseFile: async () => ({
    documents: [
      { object: { apiVersion: 'example.com/v1', kind: 'Ferry', metadata: { name: 'puffin' } } },
      { object: { apiVersion: 'autoscaling/v2', kind: 'Turned', metadata: { name: 'off' } } },
    ],
  }),
}));
vi.mock('../../src/page/files/apply/apply', () => ({
  locate: async ({ kind }: { kind: string }) => {
    await new Promise((later) => setTimeout(later, 5000)); // as long as it waits for a kind
    if (kind === 'Ferry' && Date.now() >= located.from) return { path: '/ferries/puffin' };
    throw new Refused(0, 'there is no such kind', null);
  },
}));

beforeEach(() => {
  vi.useFakeTimers();
  asked.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([
  [30_000, ['/ferries/puffin'], ['Turned off']],
  [120_000, [], ['Ferry puffin', 'Turned off']],
])('a kind that is there after %i ms', async (late, applied, missing) => {
  located.from = Date.now() + late;
  const filled = fill('custom');
  await vi.advanceTimersByTimeAsync(90_000);
  await filled;
  expect(asked).toEqual(applied);
  expect(preparing.value?.failures.map(({ what }) => what)).toEqual(missing);
});

test('a kind that the cluster does not define is given up at once', async () => {
  located.from = Date.now();
  let isOver = false;
  const filled = fill('custom').then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(10_500); // one for each object
  expect(isOver).toBe(true);
  await filled;
});
