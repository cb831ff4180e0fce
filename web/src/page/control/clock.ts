import { signal } from '@preact/signals';
import type { ClockState } from '../../answers/core';
import { askAsAdmin, type Part, refused } from '../engine/ask';
import { ready } from '../engine/cluster';
import { onRecord } from '../requests/log';

/** Offered everywhere; any other can be set through the API. */
export const SPEEDS = [1, 10, 60, 600] as const;

/** As the engine last told, with when it did; null before, or without such a clock. */
export const engineClock = signal<(ClockState & { readonly at: number }) | null>(null);

/** The engine has said that it has no such clock: before it has answered, nothing is known. */
export const clockMissing = signal(false);

/**
 * Reads the clock when an engine is ready, and whenever somebody has changed it: a command in the terminal, another tab,
 * a script. The log of requests tells of them all, so that nothing is asked at rest. To be called once.
 */
export function followClock(): void {
  let reading = false;
  let isStale = false;
  const read = async () => {
    isStale = true;
    if (reading) return;
    reading = true;
    while (isStale && ready.value) {
      isStale = false;
      await exchange('view', 'GET', '').catch(() => undefined); // the engine has gone
    }
    reading = false;
  };
  ready.subscribe((isReady) => {
    engineClock.value = null;
    if (isReady) void read();
  });
  onRecord(({ path, method, done }) => {
    if (done && method !== 'GET' && path.startsWith(PATH)) void read();
  });
}

export async function setClock(
  change: Partial<Pick<ClockState, 'paused' | 'speed'>>,
): Promise<void> {
  await exchange('control', 'PUT', '', change);
}

export async function stepClock(seconds: number): Promise<void> {
  await exchange('control', 'POST', '/step', { seconds });
}

const PATH = '/kubetab/clock';

async function exchange(from: Part, method: string, what: string, body?: unknown): Promise<void> {
  const response = await askAsAdmin(from, `${PATH}${what}`, {
    method,
    headers: body ? [['Content-Type', 'application/json']] : [],
    body: body ? JSON.stringify(body) : null,
  });
  const text = await response.text();
  clockMissing.value = response.status === 404;
  if (clockMissing.value) {
    engineClock.value = null;
    return;
  }
  if (!response.ok) throw refused(response.status, text);
  engineClock.value = { ...(JSON.parse(text) as ClockState), at: Date.now() };
}

/** What the clock shows now, counted on from when it was last asked. */
export function clockNow(state: ClockState & { readonly at: number }, real: number): Date {
  const gone = state.paused ? 0 : (real - state.at) * state.speed;
  return new Date(Date.parse(state.now) + gone);
}
