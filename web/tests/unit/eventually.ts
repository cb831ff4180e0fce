import { vi } from 'vitest';

/** Resolves when a condition holds, and rejects after a minute: for what hangs, not for what is slow. */
export const eventually = (condition: () => boolean) =>
  vi.waitUntil(condition, { timeout: 60_000, interval: 5 });
