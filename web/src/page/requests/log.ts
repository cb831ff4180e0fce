import { computed, signal } from '@preact/signals';
import type { Record as RequestRecord } from '../../answers/requestlog';
import { ADMIN } from '../control/identity';
import { ask } from '../engine/ask';
import { ready } from '../engine/cluster';
import { framesOf } from '../engine/frames';

/** Follows the engine's log of requests from the page's start, for the strip; the inspector shows the same records. */

const KEEP = 1000;

const byId = new Map<number, RequestRecord>();

/** Oldest first. A new array for every batch. */
export const records = signal<readonly RequestRecord[]>([]);
/** The engine has no log: a module from before it, or a native server. */
export const logMissing = signal(false);
/** While true, what arrives is kept back. */
export const paused = signal(false);

/** The last request that somebody made: not a component of the cluster, a view that only watches, or a lesson's loader. */
export const latest = computed(() => {
  const all = records.value;
  for (let i = all.length - 1; i >= 0; i--) {
    const record = all[i];
    if (record && isMade(record)) return record;
  }
  return null;
});

function isMade(record: RequestRecord): boolean {
  return !record.internal && record.from !== 'view' && record.from !== 'lesson';
}

const listeners: ((record: RequestRecord) => void)[] = [];

/** Tells of each record as it comes, again when it has become more, and also while `paused`. */
export function onRecord(listener: (record: RequestRecord) => void): void {
  listeners.push(listener);
}

export function clearLog(): void {
  for (const [id, record] of byId) if (record.done) byId.delete(id);
  publish();
}

let stop: AbortController | null = null;

/** To be called once; follows every engine that comes. */
export function followLog(): void {
  ready.subscribe((isReady) => {
    stop?.abort();
    stop = null;
    byId.clear();
    publish();
    if (!isReady) return;
    const mine = new AbortController();
    stop = mine;
    void follow(mine.signal);
  });
  paused.subscribe((held) => {
    if (!held) publish();
  });
}

async function follow(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await ask('control', '/kubetab/requests?follow=1', { signal, as: ADMIN });
      logMissing.value = !response.ok;
      if (!response.ok || !response.body) return;
      byId.clear();
      await read(response.body);
    } catch {
      // The engine is gone, or the stream broke: `ready` tells the one, and the other is tried again.
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function read(body: ReadableStream<Uint8Array>): Promise<void> {
  for await (const frame of framesOf(body)) {
    const record = JSON.parse(frame) as RequestRecord;
    byId.set(record.id, record);
    for (const listener of listeners) listener(record);
    schedule();
  }
}

let scheduled = false;

/** A burst of a thousand requests is drawn in a few steps. */
function schedule(): void {
  if (scheduled || paused.value) return;
  scheduled = true;
  setTimeout(() => {
    scheduled = false;
    publish();
  }, 60);
}

function publish(): void {
  if (paused.value) return;
  const sorted = [...byId.values()].sort((a, b) => a.id - b.id);
  const over = sorted.length - KEEP;
  if (over > 0) {
    const dropped = sorted.filter(({ done }) => done).slice(0, over);
    for (const { id } of dropped) byId.delete(id);
    records.value = sorted.filter(({ id }) => byId.has(id));
    return;
  }
  records.value = sorted;
}
