import type { FromExchange } from '../protocol';

/** So many pieces of streams go at once in a turn: a client may wait for each. Further pieces of the turn go together. */
const AT_ONCE = 4;

/** How long a piece may wait for others, in ms: one call of a turn of Go's may take longer. */
const PATIENCE = 10;

/** From this size on, in bytes, it costs less to hand a buffer over than to copy it. */
const WORTH_HANDING_OVER = 16 * 1024;

/**
 * The engine's messages about requests to one client thread. Each message is a task in that thread, which costs little
 * for an answer and too much for the events of two hundred watches: messages of one turn of the event loop go together.
 */
export class Outbox {
  readonly #port: Pick<MessagePort, 'postMessage'>;
  readonly #now: () => number;
  #pieces = 0;
  #waiting: FromExchange[] = [];
  #since = 0;

  /** @param now milliseconds */
  constructor(port: Pick<MessagePort, 'postMessage'>, now = () => performance.now()) {
    this.#port = port;
    this.#now = now;
  }

  /** The buffer of a message may be transferred. */
  post(message: FromExchange): void {
    switch (message.type) {
      case 'whole':
      case 'head':
      case 'pull':
        this.#send([message]); // nothing that waits is of the same request
        return;
      default:
        this.#postPiece(message);
    }
  }

  #postPiece(message: FromExchange): void {
    if (this.#pieces === 0) queueMicrotask(() => this.#endTurn());
    this.#pieces++;
    if (this.#pieces <= AT_ONCE) {
      this.#send([message]);
      return;
    }
    if (this.#waiting.length === 0) this.#since = this.#now();
    this.#waiting.push(message);
    if (this.#now() - this.#since >= PATIENCE) this.#sendWaiting();
  }

  #endTurn(): void {
    this.#pieces = 0;
    this.#sendWaiting();
  }

  #sendWaiting(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#send(waiting);
  }

  #send(answers: readonly FromExchange[]): void {
    const transfer: Transferable[] = [];
    for (const answer of answers) {
      if ('bytes' in answer && answer.bytes.byteLength >= WORTH_HANDING_OVER) {
        transfer.push(answer.bytes.buffer);
      }
    }
    this.#port.postMessage({ type: 'answers', answers }, transfer);
  }
}
