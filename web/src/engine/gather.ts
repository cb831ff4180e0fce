/**
 * Gathers the small chunks that Go writes within one turn of the event loop. The first of a turn goes at once - it may
 * be the watch event somebody waits for - and what follows in the same turn goes together, so that a list written in a
 * thousand pieces does not become a thousand messages.
 */
export class Gather {
  readonly #send: (bytes: Uint8Array<ArrayBuffer>) => void;
  readonly #limit: number;
  #parts: Uint8Array<ArrayBuffer>[] = [];
  #size = 0;
  #turnIsOpen = false;

  /**
   * @param send receives buffers it may transfer away
   * @param limit bytes after which what was gathered goes without waiting for the end of the turn
   */
  constructor(send: (bytes: Uint8Array<ArrayBuffer>) => void, limit = 64 * 1024) {
    this.#send = send;
    this.#limit = limit;
  }

  add(bytes: Uint8Array<ArrayBuffer>): void {
    if (bytes.byteLength === 0) return;
    if (!this.#turnIsOpen) {
      this.#turnIsOpen = true;
      queueMicrotask(() => {
        this.#turnIsOpen = false;
        this.flush();
      });
      this.#send(whole(bytes));
      return;
    }
    this.#parts.push(bytes);
    this.#size += bytes.byteLength;
    if (this.#size >= this.#limit) this.flush();
  }

  /** Sends what was gathered. To be called before the end of the response is announced. */
  flush(): void {
    const [first, second] = this.#parts;
    if (!first) return;
    if (!second) {
      this.#send(whole(first));
    } else {
      const all = new Uint8Array(this.#size);
      let at = 0;
      for (const part of this.#parts) {
        all.set(part, at);
        at += part.byteLength;
      }
      this.#send(all);
    }
    this.#parts = [];
    this.#size = 0;
  }
}

/** A view of a larger buffer is copied: transferring it would take the rest of the buffer along. */
function whole(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
