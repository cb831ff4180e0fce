/**
 * The consumer's side of flow control. The producer may have `size` bytes under way or waiting here at most; room that
 * becomes free is given back in pieces of at least a quarter of the window, so that a reader of small chunks does not
 * answer each of them with a message.
 *
 *   |<------------------- size ------------------->|
 *   |  waiting for the reader  | granted |  free   |
 */
export class CreditWindow {
  readonly size: number;
  #granted: number;
  #waiting = 0;

  /** @param size bytes; the producer is taken to have been granted all of it already. */
  constructor(size: number) {
    this.size = size;
    this.#granted = size;
  }

  /** Bytes arrived. A producer that oversteps is not punished: its window just stays shut for longer. */
  arrived(bytes: number): void {
    this.#granted -= bytes;
    this.#waiting += bytes;
  }

  /** The reader has taken bytes away. Returns how much credit to send now, 0 for none yet. */
  taken(bytes: number): number {
    this.#waiting -= bytes;
    const free = this.size - this.#waiting - this.#granted;
    if (free < this.size / 4) return 0;
    this.#granted += free;
    return free;
  }
}
