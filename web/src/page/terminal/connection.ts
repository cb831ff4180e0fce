import type { NewTerminal } from '../../answers/shell';
import type { ApiClient } from '../../client';
import { piecesOf } from '../../client/pieces';
import { refused } from '../engine/ask';

/** What a connection tells. */
export interface ConnectionEvents {
  /** Bytes for the screen. */
  onOutput(bytes: Uint8Array): void;
  /** The shell has ended, or the way to it is lost. Nothing more is called. */
  onEnd(why: 'left' | 'lost'): void;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** One terminal in the engine. See core/shell/handler.go for the requests. */
export class Connection {
  readonly id: string;
  readonly #api: ApiClient;
  readonly #events: ConnectionEvents;
  readonly #stopped = new AbortController();
  #output: ReadableStream<Uint8Array> | null = null; // until begin
  #position = 0;
  #waiting = ''; // typed while the last keys are on their way
  #sent = ''; // those that are

  private constructor(api: ApiClient, id: string, events: ConnectionEvents) {
    this.#api = api;
    this.id = id;
    this.#events = events;
  }

  /**
   * Opens a new terminal, which offers a first line unless that is empty.
   *
   * @throws Refused when the engine opens none, or was restarted before the terminal could be heard
   */
  static async open(
    api: ApiClient,
    size: Size,
    history: readonly string[],
    offer: string,
    events: ConnectionEvents,
  ): Promise<Connection> {
    const response = await api.request('/kubetab/terminals', {
      method: 'POST',
      body: JSON.stringify({ ...size, history, offer }),
    });
    if (!response.ok) throw refused(response.status, await response.text());
    const { id } = (await response.json()) as NewTerminal;
    const connection = new Connection(api, id, events);
    // The engine may have been restarted since: a terminal that nobody hears would take keys for ever.
    const output = await connection.#listen(0);
    if (!output.ok) throw refused(output.status, await output.text());
    return connection;
  }

  /**
   * Goes on with a terminal that an earlier page has opened; null when it is gone.
   *
   * @param position that of the earlier page's connection: what the terminal has printed since then is printed again. Null
   *   where it is not known
   */
  static async resume(
    api: ApiClient,
    id: string,
    position: number | null,
    events: ConnectionEvents,
  ): Promise<Connection | null> {
    const connection = new Connection(api, id, events);
    return (await connection.#listen(position)).ok ? connection : null;
  }

  /** How many bytes the terminal has printed in all up to the last one that onOutput was given. */
  get position(): number {
    return this.#position;
  }

  /** Begins to tell what the terminal prints, and when it ends. To be called once. */
  begin(): void {
    if (this.#output) void this.#read(this.#output);
    this.#output = null;
  }

  /**
   * Sends keys. Those typed meanwhile go together in the next request, so that their order is kept. A paste goes piece by piece:
   * the terminal takes the next when there is room for it. ^C is not for what comes behind it, and throws it away.
   */
  type(keys: string): void {
    if (keys === INTERRUPT && this.#sent.length + this.#waiting.length > TYPED_AHEAD) {
      this.#waiting = '';
      void this.#request('POST', 'input', keys);
      return;
    }
    this.#waiting += keys;
    if (this.#sent === '') void this.#send();
  }

  resize(size: Size): void {
    void this.#request('PUT', 'size', JSON.stringify(size));
  }

  /** Stops listening; the terminal lives on for a while, for a page that comes back. */
  leave(): void {
    this.#stopped.abort();
  }

  async #send(): Promise<void> {
    while (this.#waiting !== '') {
      this.#sent = firstOf(this.#waiting);
      this.#waiting = this.#waiting.slice(this.#sent.length);
      await this.#request('POST', 'input', this.#sent);
    }
    this.#sent = '';
  }

  async #request(method: string, what: string, body: string): Promise<void> {
    try {
      const response = await this.#api.request(`/kubetab/terminals/${this.id}/${what}`, {
        method,
        body,
      });
      await response.body?.cancel();
    } catch {
      // The engine is gone: the end of the output tells so.
    }
  }

  async #listen(from: number | null): Promise<Response> {
    const query = from === null ? '' : `?from=${from}`;
    const response = await this.#api.request(`/kubetab/terminals/${this.id}/output${query}`, {
      signal: this.#stopped.signal,
    });
    if (response.ok) {
      this.#output = response.body;
      this.#position = Number(response.headers.get('Kubetab-Position'));
    }
    return response;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    try {
      for await (const piece of piecesOf(body)) {
        this.#position += piece.length;
        this.#events.onOutput(piece);
      }
      if (!this.#stopped.signal.aborted) this.#events.onEnd('left');
    } catch {
      if (!this.#stopped.signal.aborted) this.#events.onEnd('lost');
    }
  }
}

const INTERRUPT = '\x03';
/** How many characters may be on their way that somebody has typed for what comes next; more is a paste. */
const TYPED_AHEAD = 4096;
/** How many characters go at once. */
const PIECE = 16 * 1024;

/** The piece of what waits that goes first. No character of two units is cut. */
function firstOf(keys: string): string {
  const piece = keys.slice(0, PIECE);
  const isCut = piece.length < keys.length && /[\ud800-\udbff]$/.test(piece);
  return isCut ? piece.slice(0, -1) : piece;
}
