import { unavailable } from '../client/status';
import type { BeginRequest, FromExchange, ToExchange } from '../protocol';
import { Gather } from './gather';
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
    const request: InFlight = {
      owner,
      engine,
      post: (reply, transfer = []) => port.postMessage(reply, transfer),
      gather: new Gather((bytes) => request.post({ type: 'chunk', bytes }, [bytes.buffer])),
      over,
    };
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
    engine.request(id, message.method, message.url, message.headers.flat(), message.hasBody);
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
      request.post({ type: 'failed', message });
      request.over();
    }
  }

  head(id: number, status: number, headers: string[]): void {
    const pairs: [string, string][] = [];
    for (let i = 0; i + 1 < headers.length; i += 2) {
      pairs.push([headers[i] as string, headers[i + 1] as string]);
    }
    this.#live.get(id)?.post({ type: 'head', status, headers: pairs });
  }

  chunk(id: number, bytes: Uint8Array<ArrayBuffer>): void {
    this.#live.get(id)?.gather.add(bytes);
  }

  end(id: number): void {
    const request = this.#live.get(id);
    request?.gather.flush();
    request?.post({ type: 'end' });
    request?.over();
  }

  abort(id: number, message: string): void {
    const request = this.#live.get(id);
    request?.gather.flush();
    request?.post({ type: 'failed', message });
    request?.over();
  }

  pull(id: number): void {
    this.#live.get(id)?.post({ type: 'pull' });
  }
}

interface InFlight {
  readonly owner: object;
  /** The engine it was given to: after a restart another one runs. */
  readonly engine: KubetabEngine;
  readonly gather: Gather;
  post(message: FromExchange, transfer?: Transferable[]): void;
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
  const replies: FromExchange[] = [
    { type: 'head', status, headers },
    { type: 'chunk', bytes },
    { type: 'end' },
  ];
  for (const reply of replies) port.postMessage(reply);
  port.close();
}
