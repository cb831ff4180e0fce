import type { FromExchange, Head, HeaderPair } from '../protocol';
import { joined } from './bytes';
import { CreditWindow } from './credit';
import type { Exchanges, Saying } from './exchanges';
import { toResponse, unavailable } from './status';

/** Bytes of response that may be under way before the reader has taken any. */
export const WINDOW = 256 * 1024;

/** Pieces of a request body are cut to this size, so that one large upload leaves room for other requests. */
const BODY_PIECE = 64 * 1024;

/** Statuses that must not have a body: the Response constructor refuses one. */
const NULL_BODY = new Set([101, 204, 205, 304]);

/** Hears of the responses that stream: `opened` with the head, `over` when the body has ended, failed or been cancelled. */
export interface StreamCount {
  opened(): void;
  over(): void;
}

/**
 * Sends one request and resolves as soon as the head has arrived, which for a watch is before
 * its first event. Used by pages that talk to the engine directly and, unchanged, by the service worker.
 *
 * @param exchanges of the control port to the engine worker
 * @param request method, headers, body and signal; its URL is not used
 * @param url path and query as the API server shall see them
 * @param lost aborted when the worker at the other end has died
 * @param streams told when the response is not whole with its head
 * @returns the response. Its body fails when the engine dies later, and cancels the request when it is cancelled.
 *   When the engine dies before the head, the response is a 503 Status, so that both transports give the same.
 * @throws what `request.signal` was aborted with, and what reading the request's body throws
 */
export async function exchange(
  exchanges: Exchanges,
  request: Request,
  url: string,
  lost: AbortSignal,
  streams?: StreamCount,
): Promise<Response> {
  const { signal } = request;
  signal.throwIfAborted();
  const upload = mayHaveBody(request) ? await Upload.open(request) : null;
  signal.throwIfAborted();
  const body = upload ? (upload.small ?? 'follows') : null;

  return new Promise((resolve, reject) => {
    const channel = exchanges.open(onMessage);
    const send = channel.say;
    const response = new ResponseBody(send, finish, () => streams?.over());
    let headArrived = false;

    function finish() {
      channel.close();
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
      if (NULL_BODY.has(head.status)) {
        void response.stream.cancel();
        resolve(responseOf(head, null));
        return;
      }
      streams?.opened();
      response.opened = true;
      resolve(responseOf(head, response.stream));
    }

    function onMessage(data: FromExchange) {
      switch (data.type) {
        case 'whole':
          finish();
          resolve(responseOf(data, NULL_BODY.has(data.status) ? null : data.bytes));
          return;
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
    }
    if (lost.aborted) {
      onLost();
      return;
    }
    signal.addEventListener('abort', onAbort);
    lost.addEventListener('abort', onLost);
    const { method } = request;
    const headers: HeaderPair[] = [...request.headers];
    send({ type: 'request', method, url, headers, body, window: WINDOW });
    if (body !== 'follows') return;
    upload?.run(send).catch((error: unknown) => {
      // The source of the body broke. The API server must not take the part that arrived for the whole.
      send({ type: 'cancel' });
      finish();
      if (headArrived) response.fail(error);
      else reject(error);
    });
  });
}

function responseOf(
  { status, headers: pairs }: Pick<Head, 'status' | 'headers'>,
  body: BodyInit | null,
): Response {
  const headers = new Headers();
  for (const [name, value] of pairs) headers.append(name, value);
  return new Response(body, { status, statusText: REASONS[status] ?? '', headers });
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
  readonly #onOver: () => void;
  #wanted = false;
  #over = false;
  /** Whether somebody has the stream. */
  opened = false;

  /** @param onOver called once when a stream that was opened has nothing more to give */
  constructor(send: (message: Saying) => void, finish: () => void, onOver: () => void) {
    this.#onOver = onOver;
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
          this.#close();
        },
      },
      // Nothing is queued inside the stream: `pull` then means that somebody reads.
      { highWaterMark: 0 },
    );
    this.#send = send;
  }
  readonly #send: (message: Saying) => void;

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
    if (this.#waiting.length > 0) return;
    this.#controller.close();
    this.#close();
  }

  fail(reason: unknown): void {
    if (this.#over && this.#waiting.length === 0) return;
    this.#over = true;
    this.#waiting.length = 0;
    this.#controller.error(reason);
    this.#close();
  }

  /** Gives the reader one chunk if there is one; returns its size. */
  #give(): number {
    const bytes = this.#waiting.shift();
    if (!bytes) return 0;
    this.#wanted = false;
    this.#controller.enqueue(bytes);
    if (this.#over && this.#waiting.length === 0) {
      this.#controller.close();
      this.#close();
    }
    return bytes.byteLength;
  }

  #close(): void {
    if (!this.opened) return;
    this.opened = false;
    this.#onOver();
  }
}

/** A request's body: all of it when it is small, otherwise piece by piece, the next when the engine has taken the last. */
class Upload {
  /** The body when it is not longer than one piece. */
  readonly small: Uint8Array<ArrayBuffer> | null;
  readonly #pieces: AsyncIterable<Uint8Array<ArrayBuffer>>;
  #taken: (() => void) | null = null;
  #stopped = false;

  private constructor(began: Uint8Array[], size: number, rest: AsyncIterable<Uint8Array> | null) {
    this.small = rest ? null : joined(began, size);
    this.#pieces = pieces(began, rest);
  }

  /** Reads as much as tells whether the body is small. Throws what reading throws, or what aborts the request. */
  static async open(request: Request): Promise<Upload> {
    const source = chunks(request);
    const began: Uint8Array[] = [];
    let size = 0;
    while (size <= BODY_PIECE) {
      const { done, value } = await until(source.next(), request.signal);
      if (done) return new Upload(began, size, null);
      began.push(value);
      size += value.byteLength;
    }
    return new Upload(began, size, source);
  }

  async run(send: (message: Saying, transfer?: Transferable[]) => void): Promise<void> {
    for await (const bytes of this.#pieces) {
      if (this.#stopped) return;
      const taken = new Promise<void>((resolve) => {
        this.#taken = resolve;
      });
      send({ type: 'body', bytes }, [bytes.buffer]);
      await taken;
    }
    if (!this.#stopped) send({ type: 'body-end' });
  }

  pulled(): void {
    this.#taken?.();
  }

  stop(): void {
    this.#stopped = true;
    this.#taken?.();
  }
}

/** What is promised, or what `signal` is aborted with if that is first. */
function until<T>(promised: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promised.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

async function* chunks(request: Request): AsyncGenerator<Uint8Array, void> {
  if (!request.body) {
    yield new Uint8Array(await request.arrayBuffer());
    return;
  }
  const reader = request.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Copies, because a piece is transferred and the source may be a view of something shared. */
async function* pieces(
  began: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array> | null,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  for (const bytes of began) yield* cut(bytes);
  if (rest) for await (const bytes of rest) yield* cut(bytes);
}

function* cut(bytes: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < bytes.byteLength; at += BODY_PIECE) {
    yield new Uint8Array(bytes.subarray(at, at + BODY_PIECE));
  }
}

/** HTTP/2 and the fetch API carry no reason phrase; these are RFC 9110's for what kube-apiserver answers, and RFC 4918's 507. */
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
  507: 'Insufficient Storage',
};
