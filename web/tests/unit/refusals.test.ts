import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Refusals } from '../../src/page/cluster/refusals';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/x.example.com';

/** How often a watch that is always answered with `status` is asked for. */
function asks(status: number | undefined) {
  const refusals = new Refusals();
  const stop = new AbortController();
  const seen = { times: 0, isOver: false };
  void (async () => {
    while (!stop.signal.aborted) {
      seen.times++;
      await refusals.over(status, stop.signal);
    }
    seen.isOver = true;
  })();
  return { refusals, stop, seen };
}

test('a watch that has ended is asked for again soon', async () => {
  const { seen } = asks(undefined);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(seen.times).toBe(11);
});

test.each([403, 404])('one that is refused with %s is not', async (status) => {
  const { seen } = asks(status);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(seen.times).toBe(1);
  await vi.advanceTimersByTimeAsync(2000);
  expect(seen.times).toBe(2);
});

test.each([
  [403, BINDINGS, 2],
  [403, CRDS, 1],
  [404, CRDS, 2],
  [404, BINDINGS, 1],
])('after %s, a change of %s', async (status, path, times) => {
  const { refusals, seen } = asks(status);
  await vi.advanceTimersByTimeAsync(5000);
  refusals.note({ method: 'GET', path });
  await vi.advanceTimersByTimeAsync(5000);
  expect(seen.times).toBe(1);
  refusals.note({ method: 'POST', path });
  await vi.advanceTimersByTimeAsync(5000);
  expect(seen.times).toBe(times);
});

test('nobody waits after the end', async () => {
  const { stop, seen } = asks(403);
  stop.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect(seen).toEqual({ times: 1, isOver: true });
  expect(vi.getTimerCount()).toBe(0);
});
