import type { Record as RequestRecord } from '../../answers/requestlog';

/** When a watch that has ended is asked for again, in ms. An authorizer hears of a new right within as much. */
const SOON = 2000;
/** When a watch that was refused is asked for again although nothing is known to have changed, in ms. */
const LATE = 60_000;

/** What changes what the API server answers with 403 Forbidden, and with 404 Not Found to a collection. */
const CHANGES: Readonly<Record<number, RegExp>> = {
  403: /\/rbac\.authorization\.k8s\.io\//,
  404: /\/(customresourcedefinitions|apiservices)\b/,
};

/**
 * Tells when to repeat a refused watch. A forbidden watch stays forbidden until a request changes rights, and a watch
 * of an unknown resource fails until a request defines it. The engine's request log tells of both.
 */
export class Refusals {
  readonly #waiting = new Set<(record: Pick<RequestRecord, 'method' | 'path'>) => void>();

  /** To be told of every request that is done. */
  note(record: Pick<RequestRecord, 'method' | 'path'>): void {
    if (record.method === 'GET') return;
    for (const hear of this.#waiting) hear(record);
  }

  /**
   * @param status what a watch was answered with; undefined when it was not refused
   * @returns a promise that resolves when the watch may be asked for again, or when `signal` is aborted
   */
  over(status: number | undefined, signal: AbortSignal): Promise<void> {
    const change = status === undefined ? undefined : CHANGES[status];
    return new Promise((resolve) => {
      let timer = setTimeout(end, change ? LATE : SOON);
      const hear = ({ path }: Pick<RequestRecord, 'path'>) => {
        if (!change?.test(path)) return;
        clearTimeout(timer);
        timer = setTimeout(end, SOON);
      };
      const waiting = this.#waiting;
      waiting.add(hear);
      signal.addEventListener('abort', end);
      function end() {
        clearTimeout(timer);
        waiting.delete(hear);
        signal.removeEventListener('abort', end);
        resolve();
      }
    });
  }
}
