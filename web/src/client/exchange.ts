import type { FromExchange, Head, HeaderPair, ToEngine, ToExchange } from '../protocol';
import { CreditWindow } from './credit';
import { toResponse, unavailable } from './status';

/** Bytes of response that may be under way before the reader has taken any. */
export const WINDOW = 256 * 1024;

/** Pieces of a request body are cut to this size, so that one large upload leaves room for other requests. */
const BODY_PIECE = 64 * 1024;

/** Statuses that must not have a body: the Response constructor refuses one. */
const NULL_BODY = new Set([101, 204, 205, 304]);

export interface ControlPort {
  postMessage(message: ToEngine, transfer: Transferable[]): void;
}

/**
 * Sends one request over a channel of its own and resolves as soon as the head has arrived, which for a watch is before
 * its first event. Used by pages that talk to the engine directly and, unchanged, by the service worker.
 *
 * @param control the port to the engine worker
 * @param request method, headers, body and signal; its URL is not used
 * @param url path and query as the API server shall see them
 * @param lost aborted when the worker at the other end has died
 * @returns the response. Its body fails when the engine dies later, and cancels the request when it is cancelled.
 *   When the engine dies before the head, a 503 Status, so that both transports give the same.
 * @throws what `request.signal` was aborted with
 */
export function exchange(
  control: ControlPort,
  request: Request,
  url: string,
  lost: AbortSignal,
): Promise<Response> {
  const { signal } = request;
  if (signal.aborted) return Promise.reject(signal.reason);
  const { port1: port, port2: far } = new MessageChannel();
  const send = (message: ToExchange, transfer: Transferable[] = []) =>
    port.postMessage(message, transfer);
  const hasBody = mayHaveBody(request);

  return new Promise((resolve, reject) => {
    const response = new ResponseBody(send, finish);
    const upload = hasBody ? new Upload(request, send) : null;
    let headArrived = false;

    function finish() {
      port.onmessage = null;
      port.close();
      signal.removeEventListener('abort', onAbort);
      lost.removeEventListener('abort', onLost);
      upload?.stop();
    }
    function onAbort() {
      send({ type: 'cancel' });
      finish();
      if (headArrived) response.fail(signal.reason);
      else reject(signal.reason);
    }
    function onFailed(message: string) {
      finish();
      if (headArrived) response.fail(new TypeError(message));
      else resolve(toResponse(unavailable(message, 1)));
    }
    function onLost() {
      onFailed('The engine worker ended before the response was complete.');
    }
    function onHead(head: Head) {
      headArrived = true;
      resolve(responseOf(head, response.stream));
    }

    port.onmessage = ({ data }: MessageEvent<FromExchange>) => {
      switch (data.type) {
        case 'head':
          onHead(data);
          return;
        case 'chunk':
          response.add(data.bytes);
          return;
        case 'end':
          finish();
          response.end();
          return;
        case 'failed':
          onFailed(data.message);
          return;
        case 'pull':
          upload?.pulled();
          return;
        default:
          data satisfies never;
      }
    };
    if (lost.aborted) {
      onLost();
      return;
    }
    signal.addEventListener('abort', onAbort);
    lost.addEventListener('abort', onLost);
    const headers: HeaderPair[] = [...request.headers];
    control.postMessage(
      { type: 'request', method: request.method, url, headers, hasBody, window: WINDOW, port: far },
      [far],
    );
    upload?.run().catch((error: unknown) => {
      // The source of the body broke. The API server must not take the part that arrived for the whole.
      send({ type: 'cancel' });
      finish();
      if (headArrived) response.fail(error);
      else reject(error);
    });
  });
}

function responseOf(head: Head, stream: ReadableStream<Uint8Array<ArrayBuffer>>): Response {
  const headers = new Headers();
  for (const [name, value] of head.headers) headers.append(name, value);
  const empty = NULL_BODY.has(head.status);
  if (empty) void stream.cancel();
  return new Response(empty ? null : stream, {
    status: head.status,
    statusText: REASONS[head.status] ?? '',
    headers,
  });
}

/** Where `Request.body` is missing (Firefox), any method but these may carry one. */
function mayHaveBody(request: { readonly body?: unknown; readonly method: string }): boolean {
  if (request.body === undefined) return request.method !== 'GET' && request.method !== 'HEAD';
  return request.body !== null;
}

/** The response as a stream: what arrived waits here until it is read, and only reading grants credit. */
class ResponseBody {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  readonly #waiting: Uint8Array<ArrayBuffer>[] = [];
  readonly #window = new CreditWindow(WINDOW);
  #wanted = false;
  #over = false;

  constructor(send: (message: ToExchange) => void, finish: () => void) {
    this.stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#wanted = true;
          const bytes = this.#give();
          const credit = this.#over ? 0 : this.#window.taken(bytes);
          if (credit > 0) send({ type: 'credit', bytes: credit });
        },
        cancel: () => {
          if (this.#over) return;
          this.#over = true;
          send({ type: 'cancel' });
          finish();
        },
      },
      // Nothing is queued inside the stream: `pull` then means that somebody reads.
      { highWaterMark: 0 },
    );
    this.#send = send;
  }
  readonly #send: (message: ToExchange) => void;

  add(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#over) return;
    this.#window.arrived(bytes.byteLength);
    this.#waiting.push(bytes);
    if (!this.#wanted) return;
    const credit = this.#window.taken(this.#give());
    if (credit > 0) this.#send({ type: 'credit', bytes: credit });
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#waiting.length === 0) this.#controller.close();
  }

  fail(reason: unknown): void {
    if (this.#over && this.#waiting.length === 0) return;
    this.#over = true;
    this.#waiting.length = 0;
    this.#controller.error(reason);
  }

  /** Gives the reader one chunk if there is one; returns its size. */
  #give(): number {
    const bytes = this.#waiting.shift();
    if (!bytes) return 0;
    this.#wanted = false;
    this.#controller.enqueue(bytes);
    if (this.#over && this.#waiting.length === 0) this.#controller.close();
    return bytes.byteLength;
  }
}

/** Sends the request body piece by piece, the next when the engine has taken the last. */
class Upload {
  readonly #request: Request;
  readonly #send: (message: ToExchange, transfer?: Transferable[]) => void;
  #taken: (() => void) | null = null;
  #stopped = false;

  constructor(request: Request, send: (message: ToExchange, transfer?: Transferable[]) => void) {
    this.#request = request;
    this.#send = send;
  }

  async run(): Promise<void> {
    for await (const bytes of pieces(this.#request)) {
      if (this.#stopped) return;
      const taken = new Promise<void>((resolve) => {
        this.#taken = resolve;
      });
      this.#send({ type: 'body', bytes }, [bytes.buffer]);
      await taken;
    }
    if (!this.#stopped) this.#send({ type: 'body-end' });
  }

  pulled(): void {
    this.#taken?.();
  }

  stop(): void {
    this.#stopped = true;
    this.#taken?.();
  }
}

async function* pieces(request: Request): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (!request.body) {
    yield* cut(new Uint8Array(await request.arrayBuffer()));
    return;
  }
  const reader = request.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* cut(value);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Copies, because a piece is transferred and the source may be a view of something shared. */
function* cut(bytes: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < bytes.byteLength; at += BODY_PIECE) {
    yield new Uint8Array(bytes.subarray(at, at + BODY_PIECE));
  }
}

/** HTTP/2 and the fetch API carry no reason phrase; these are RFC 9110's for what kube-apiserver answers. */
const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  301: 'Moved Permanently',
  302: 'Found',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};
