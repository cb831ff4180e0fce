import { joined } from '../client/bytes';
import type { FromExchange, Head, HeaderPair } from '../protocol';
import type { Outbox } from './outbox';

/**
 * What Go answers to one request, on its way to the client in as few messages as lose no time. Each message is a task of
 * its own in the thread that receives it.
 *
 * - A response that is complete within one turn of the event loop is one message.
 * - Otherwise the head goes when the turn ends, which for a watch is before its first event.
 * - Of the chunks of a later turn the first goes at once - it may be the watch event somebody waits for - and what
 *   follows in the same turn goes together, so that a list written in a thousand pieces is not a thousand messages.
 */
export class Answer {
  readonly #id: number;
  readonly #post: (message: FromExchange) => void;
  readonly #limit: number;
  #head: Head | null = null;
  #parts: Uint8Array<ArrayBuffer>[] = [];
  #size = 0;
  #turnIsOpen = false;

  /**
   * @param id the client's number of the request
   * @param limit bytes after which what was gathered goes without waiting for the end of the turn
   */
  constructor(id: number, outbox: Pick<Outbox, 'post'>, limit = 64 * 1024) {
    this.#id = id;
    this.#post = (message) => outbox.post(message);
    this.#limit = limit;
  }

  head(status: number, headers: readonly HeaderPair[]): void {
    this.#head = { type: 'head', id: this.#id, status, headers };
    this.#openTurn();
  }

  chunk(bytes: Uint8Array<ArrayBuffer>): void {
    if (bytes.byteLength === 0) return;
    this.#parts.push(bytes);
    this.#size += bytes.byteLength;
    if (!this.#turnIsOpen) {
      this.#openTurn();
      this.#flush();
    } else if (this.#size >= this.#limit) {
      this.#flush();
    }
  }

  end(): void {
    if (this.#head) {
      const { id, status, headers } = this.#head;
      this.#head = null;
      this.#post({ type: 'whole', id, status, headers, bytes: this.#take() });
      return;
    }
    this.#flush();
    this.#post({ type: 'end', id: this.#id });
  }

  fail(message: string): void {
    this.#flush();
    this.#post({ type: 'failed', id: this.#id, message });
  }

  #openTurn(): void {
    if (this.#turnIsOpen) return;
    this.#turnIsOpen = true;
    queueMicrotask(() => {
      this.#turnIsOpen = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#head) {
      this.#post(this.#head);
      this.#head = null;
    }
    if (this.#size === 0) return;
    this.#post({ type: 'chunk', id: this.#id, bytes: this.#take() });
  }

  #take(): Uint8Array<ArrayBuffer> {
    const [first, second] = this.#parts;
    const all = first && !second ? whole(first) : joined(this.#parts, this.#size);
    this.#parts = [];
    this.#size = 0;
    return all;
  }
}

/** A view of a larger buffer is copied: transferring it would take the rest of the buffer along. */
function whole(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
