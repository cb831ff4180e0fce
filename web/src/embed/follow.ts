import type { Record as RequestRecord } from '../answers/requestlog';
import type { ApiClient } from '../client';
import { JsonFrames } from '../page/engine/frames';
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
    const reader = answer.body.pipeThrough(new TextDecoderStream() as never).getReader();
    const frames = new JsonFrames();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const frame of frames.add(value as unknown as string)) tell(JSON.parse(frame));
    }
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
