import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { keepFiles, ready } from '../../src/page/engine/cluster';
import {
  followFirstMoments,
  mayPrepare,
  mayShow,
  typedAhead,
  untilMayPrepare,
} from '../../src/page/engine/first-moments';

vi.mock('../../src/page/engine/cluster', async () => {
  const { signal } = await import('@preact/signals');
  return { ready: signal(false), keepFiles: vi.fn() };
});

const isReady = (now: boolean) => {
  (ready as { value: boolean }).value = now;
};
const may = () => [mayShow.value, mayPrepare.value];

beforeAll(followFirstMoments);
beforeEach(() => {
  vi.useFakeTimers();
  vi.mocked(keepFiles).mockClear();
  isReady(false);
  typedAhead.value = false;
});
afterEach(() => {
  vi.useRealTimers();
});

test('what is seen comes first, and what nobody waits for after it', () => {
  expect(may()).toEqual([false, false]);
  isReady(true);
  expect(may()).toEqual([true, false]);
  vi.advanceTimersByTime(400);
  expect(may()).toEqual([true, true]);
  isReady(false);
  expect(may()).toEqual([false, false]);
});

test('both wait for the answer to what was typed ahead', () => {
  typedAhead.value = true;
  isReady(true);
  vi.advanceTimersByTime(1500);
  expect(may()).toEqual([false, false]);
  typedAhead.value = false;
  expect(may()).toEqual([true, false]);
  expect(keepFiles).not.toHaveBeenCalled();
  vi.advanceTimersByTime(400);
  expect(may()).toEqual([true, true]);
  expect(keepFiles).toHaveBeenCalledOnce();
  // A shell that was lost, of an engine that runs.
  typedAhead.value = true;
  expect(may()).toEqual([true, true]);
});

test('a line that does not end holds them back for two seconds', () => {
  typedAhead.value = true;
  isReady(true);
  vi.advanceTimersByTime(1999);
  expect(may()).toEqual([false, false]);
  vi.advanceTimersByTime(401);
  expect(may()).toEqual([true, true]);
});

test('an engine that dies meanwhile shows nothing, and nobody waits for it', async () => {
  isReady(true);
  const waits = untilMayPrepare();
  isReady(false);
  await waits;
  vi.advanceTimersByTime(5000);
  expect(may()).toEqual([false, false]);
  isReady(true);
  const again = untilMayPrepare();
  vi.advanceTimersByTime(400);
  await again;
  expect(may()).toEqual([true, true]);
});
