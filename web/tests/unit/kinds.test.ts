import { type Signal, signal } from '@preact/signals';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { followKinds, idOf, kinds } from '../../src/page/cluster/kinds';
import type { Snapshot } from '../../src/page/cluster/watch';
import { locate } from '../../src/page/files/apply/apply';

// Discovery follows a CustomResourceDefinition by a while, and nothing tells when.

const state = vi.hoisted(() => ({
  snapshots: new Map<string, Signal<Snapshot<unknown>>>(),
  served: [] as string[],
  asked: 0,
  takes: 0,
}));

vi.mock('../../src/page/cluster/watch', async () => {
  const { signal: made } = await import('@preact/signals');
  return {
    metadata: () => null,
    hold: (path: string) => {
      const snapshot = made({ state: 'live', problem: '', items: new Map(), version: 0 });
      state.snapshots.set(path.slice(path.lastIndexOf('/') + 1), snapshot as never);
      return { watch: { snapshot } };
    },
  };
});
vi.mock('../../src/page/engine/cluster', () => ({ ready: signal(true) }));
vi.mock('../../src/page/engine/first-moments', () => ({ mayShow: signal(true) }));
vi.mock('../../src/page/engine/ask', async (original) => ({
  ...(await original<typeof import('../../src/page/engine/ask')>()),
  askAsAdmin: async (_: string, path: string) => {
    if (path === '/api') return Response.json({ items: [] });
    state.asked++;
    const answer = Response.json({ items: state.served.map(discovered) });
    await new Promise((later) => setTimeout(later, state.takes));
    return answer;
  },
}));

/** @param name as that of a definition, plural.group */
function discovered(name: string) {
  const dot = name.indexOf('.');
  const resource = { resource: name.slice(0, dot), scope: 'Namespaced', verbs: ['list', 'watch'] };
  return {
    metadata: { name: name.slice(dot + 1) },
    versions: [{ version: 'v1', resources: [resource] }],
  };
}

function define(...names: string[]): void {
  const definitions = state.snapshots.get('customresourcedefinitions');
  if (!definitions) throw new Error('nobody watches the definitions');
  const items = new Map<string, unknown>(names.map((name) => [`/${name}`, {}]));
  definitions.value = { state: 'live', problem: '', items, version: 0 };
}

beforeEach(async () => {
  vi.useFakeTimers();
  followKinds();
  state.served = [];
  state.takes = 0;
  define();
  await vi.advanceTimersByTimeAsync(120_000);
  state.asked = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

test('a kind that discovery has late is found', async () => {
  define('ferries.example.com');
  await vi.advanceTimersByTimeAsync(20_000);
  expect(kinds.value).toEqual([]);
  state.served = ['ferries.example.com'];
  await vi.advanceTimersByTimeAsync(5000);
  expect(kinds.value.map(idOf)).toEqual(['ferries.example.com']);
  const before = state.asked;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(state.asked).toBe(before);
});

test('a kind that discovery loses late is forgotten', async () => {
  state.served = ['ferries.example.com'];
  define('ferries.example.com');
  await vi.advanceTimersByTimeAsync(1000);
  define();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(kinds.value.map(idOf)).toEqual(['ferries.example.com']);
  state.served = [];
  await vi.advanceTimersByTimeAsync(5000);
  expect(kinds.value).toEqual([]);
});

test('a definition that is never served is not asked for without end', async () => {
  define('ferries.example.com');
  await vi.advanceTimersByTimeAsync(120_000);
  expect(state.asked).toBeLessThan(20);
  const before = state.asked;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(state.asked).toBe(before);
});

test('an answer that comes after a later one does not count', async () => {
  state.takes = 3000;
  define('ferries.example.com');
  await vi.advanceTimersByTimeAsync(500);
  state.takes = 0;
  state.served = ['ferries.example.com'];
  define('ferries.example.com');
  await vi.advanceTimersByTimeAsync(500);
  expect(kinds.value.map(idOf)).toEqual(['ferries.example.com']);
  await vi.advanceTimersByTimeAsync(5000);
  expect(kinds.value.map(idOf)).toEqual(['ferries.example.com']);
});

test('a question without an answer does not keep the next one', async () => {
  state.takes = 1e6;
  define('ferries.example.com');
  await vi.advanceTimersByTimeAsync(500);
  state.takes = 0;
  state.served = ['ferries.example.com'];
  await vi.advanceTimersByTimeAsync(1000);
  expect(kinds.value.map(idOf)).toEqual(['ferries.example.com']);
});

test('who waits for a kind has discovery asked, whatever the watches say', async () => {
  state.served = ['boats.example.com'];
  const object = { apiVersion: 'example.com/v1', kind: 'boats', metadata: { name: 'albatross' } };
  const found = locate(object);
  await vi.advanceTimersByTimeAsync(100);
  expect((await found).path).toBe('/apis/example.com/v1/namespaces/default/boats/albatross');
});
