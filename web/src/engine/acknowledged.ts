import type { FromExchange } from '../protocol';
import type { Outbox } from './outbox';

/**
 * Messages that acknowledge changes of the cluster. Each waits until the browser has stored the changes before it, so
 * that acknowledged changes are there after the tab's processes were killed. Messages stay in their order.
 */
export class Acknowledged implements Pick<Outbox, 'post'> {
  readonly #outbox: Pick<Outbox, 'post'>;
  readonly #caughtUp: () => Promise<void> | null;
  /** Resolves when everything before has been posted; null when it has. */
  #before: Promise<void> | null = null;

  /** @param caughtUp see StoredJournal */
  constructor(outbox: Pick<Outbox, 'post'>, caughtUp: () => Promise<void> | null) {
    this.#outbox = outbox;
    this.#caughtUp = caughtUp;
  }

  post(message: FromExchange): void {
    const kept = this.#caughtUp();
    if (!kept && !this.#before) {
      this.#outbox.post(message);
      return;
    }
    const posted = Promise.all([kept, this.#before]).then(() => {
      this.#outbox.post(message);
      if (this.#before === posted) this.#before = null;
    });
    this.#before = posted;
  }
}

/** Whether the answer to a request may tell of a change that the request has made. A terminal's output tells of kubectl's. */
export function acknowledges(method: string, url: string): boolean {
  if (url.startsWith('/kubetab/')) return /^\/kubetab\/terminals\/[^/]+\/output/.test(url);
  if (/reviews(\?|$)/.test(url)) return false; // who may do what: nothing is kept of them
  return !['GET', 'HEAD', 'OPTIONS'].includes(method);
}
