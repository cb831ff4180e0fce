import { unavailable } from '../client/status';
import type { BeginRequest, FromExchange, ToExchange } from '../protocol';
import { Answer } from './answer';
import type { KubetabEngine } from './seam';

/**
 * The requests in flight: each has an id towards Go and a port towards its client. Go holds only the id, so that nothing
 * of JavaScript stays in Go's hands when a request is over.
 *
 *   client ◀── MessagePort ──▶ InFlight(id) ◀── kubetabHost / kubetabEngine ──▶ Go
 */
export class Requests {
  readonly #live = new Map<number, InFlight>();
  #lastId = 0;

  get count(): number {
    return this.#live.size;
  }

  /** @param owner whose death ends the request; see `cancelAllOf` */
  begin(engine: KubetabEngine, message: BeginRequest, owner: object): void {
    const id = ++this.#lastId;
    const { port } = message;
    const over = () => {
      this.#live.delete(id);
      port.onmessage = null;
      port.close();
    };
    const answer = new Answer((reply, transfer = []) => port.postMessage(reply, transfer));
    const request: InFlight = { owner, engine, answer, port, over };
    this.#live.set(id, request);
    port.onmessage = ({ data }: MessageEvent<ToExchange>) => {
      switch (data.type) {
        case 'body':
          engine.body(id, data.bytes);
          return;
        case 'body-end':
          engine.body(id, null);
          return;
        case 'credit':
          engine.credit(id, data.bytes);
          return;
        case 'cancel':
          over();
          engine.cancel(id);
          return;
        default:
          data satisfies never;
      }
    };
    const { method, url, headers, body } = message;
    engine.request(id, method, url, headers.flat(), body !== null);
    if (body !== null && body !== 'follows') {
      engine.body(id, body);
      engine.body(id, null);
    }
    engine.credit(id, message.window);
  }

  /** Ends every request of a party that is gone. */
  cancelAllOf(owner: object): void {
    for (const [id, request] of this.#live) {
      if (request.owner !== owner) continue;
      request.over();
      request.engine.cancel(id);
    }
  }

  /** The engine is gone: nobody shall wait for an answer that cannot come. */
  failAll(message: string): void {
    for (const request of this.#live.values()) {
      request.answer.fail(message);
      request.over();
    }
  }

  head(id: number, status: number, headers: string[]): void {
    const pairs: [string, string][] = [];
    for (let i = 0; i + 1 < headers.length; i += 2) {
      pairs.push([headers[i] as string, headers[i + 1] as string]);
    }
    this.#live.get(id)?.answer.head(status, pairs);
  }

  chunk(id: number, bytes: Uint8Array<ArrayBuffer>): void {
    this.#live.get(id)?.answer.chunk(bytes);
  }

  end(id: number): void {
    const request = this.#live.get(id);
    request?.answer.end();
    request?.over();
  }

  abort(id: number, message: string): void {
    const request = this.#live.get(id);
    request?.answer.fail(message);
    request?.over();
  }

  pull(id: number): void {
    const reply: FromExchange = { type: 'pull' };
    this.#live.get(id)?.port.postMessage(reply);
  }
}

interface InFlight {
  readonly owner: object;
  /** The engine it was given to: after a restart another one runs. */
  readonly engine: KubetabEngine;
  readonly answer: Answer;
  readonly port: MessagePort;
  over(): void;
}

/** Answers a request for which there is no engine. */
export function answerUnavailable(
  { port }: BeginRequest,
  message: string,
  retryAfterSeconds: number,
): void {
  const { status, headers, body } = unavailable(message, retryAfterSeconds);
  const bytes = new TextEncoder().encode(body);
  const reply: FromExchange = { type: 'whole', status, headers, bytes };
  port.postMessage(reply);
  port.close();
}
