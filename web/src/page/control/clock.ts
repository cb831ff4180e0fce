import { signal } from '@preact/signals';
import { askAsAdmin, refused } from '../engine/ask';

/** As core.ClockPath answers. */
export interface ClockState {
  readonly now: string;
  readonly paused: boolean;
  /** Seconds of the clock in one of the real time. */
  readonly speed: number;
}

/** As the engine last told, with when it did; null before, or without such a clock. */
export const engineClock = signal<(ClockState & { readonly at: number }) | null>(null);

/** The engine has said that it has no such clock: before it has answered, nothing is known. */
export const clockMissing = signal(false);

export async function readClock(): Promise<void> {
  await exchange('GET', '');
}

export async function setClock(
  change: Partial<Pick<ClockState, 'paused' | 'speed'>>,
): Promise<void> {
  await exchange('PUT', '', change);
}

export async function stepClock(seconds: number): Promise<void> {
  await exchange('POST', '/step', { seconds });
}

async function exchange(method: string, part: string, body?: unknown): Promise<void> {
  const response = await askAsAdmin('control', `/kubetab/clock${part}`, {
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
