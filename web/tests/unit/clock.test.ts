import { computed, effect } from '@preact/signals';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  vi.resetModules();
  vi.stubGlobal('document', { hidden: false });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('ages tick while one is shown, and begin with the time that it is', async () => {
  const { now } = await import('../../src/page/cluster/clock');
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(60_000);
  const age = computed(() => now.value);
  let shown = 0;
  const leave = effect(() => {
    shown = age.value;
  });
  expect(shown).toBe(60_000);
  vi.advanceTimersByTime(2000);
  expect(shown).toBe(62_000);
  vi.stubGlobal('document', { hidden: true });
  vi.advanceTimersByTime(2000);
  expect(shown).toBe(62_000);
  leave();
  expect(vi.getTimerCount()).toBe(0);
});
