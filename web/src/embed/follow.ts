import type { Record as RequestRecord } from '../answers/requestlog';
import type { ApiClient } from '../client';
import { framesOf } from '../page/engine/frames';
import type { Events } from './client';

export type { RequestRecord };

const CHANGING = /^(create|update|patch|delete|deletecollection)$/;

/** Listens to the engine's log of requests while there are listeners. */
export function follow(api: ApiClient, lost: AbortSignal) {
  const listeners = new Map<(record: RequestRecord) => void, keyof Events>();
  let stop: AbortController | null = null;

  function tell(record: RequestRecord): void {
    const { done, verb = '', status = 0 } = record;
    const isChange = done && CHANGING.test(verb) && status >= 200 && status < 300;
    for (const [listener, event] of listeners)
      if (event === 'request' || isChange) listener(record);
  }

  async function read(signal: AbortSignal): Promise<void> {
    const answer = await api.request('/kubetab/requests?follow=1', {
      signal: AbortSignal.any([signal, lost]),
    });
    if (!answer.ok || !answer.body) return;
    for await (const frame of framesOf(answer.body)) tell(JSON.parse(frame));
  }

  return {
    on<E extends keyof Events>(event: E, listener: (value: Events[E]) => void): () => void {
      const mine = (record: RequestRecord) => listener(record);
      listeners.set(mine, event);
      if (!stop) {
        stop = new AbortController();
        read(stop.signal).catch(() => undefined); // the engine is gone: `closed` tells so
      }
      return () => {
        listeners.delete(mine);
        if (listeners.size > 0) return;
        stop?.abort();
        stop = null;
      };
    },
  };
}
