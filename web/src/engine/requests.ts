import { unavailable } from '../client/status';
import type { BeginRequest, HeaderPair, ToExchange } from '../protocol';
import { Acknowledged, acknowledges } from './acknowledged';
import { Answer } from './answer';
import type { Outbox } from './outbox';
import type { KubetabEngine } from './seam';
import { type Turn, Turns } from './turns';

/**
 * The requests in flight. A party numbers its own requests, and Go has one number for each request of all parties. Go
 * therefore keeps no JavaScript value of a request that is over.
 *
 *   party ◀── Outbox, numbers of the party ──▶ InFlight ◀── kubetabHost / kubetabEngine, numbers of all ──▶ Go
 */
export class Requests {
  readonly #live = new Map<number, InFlight>();
  readonly #parties = new Map<Outbox, Party>();
  readonly #caughtUp: () => Promise<void> | null;
  #lastId = 0;

  /** @param caughtUp see StoredJournal: what an answer to a change waits for */
  constructor(caughtUp: () => Promise<void> | null = () => null) {
    this.#caughtUp = caughtUp;
  }

  get count(): number {
    return this.#live.size;
  }

  /** @param outbox of the party, by which it is known; see `cancelAllOf` */
  begin(engine: KubetabEngine, message: BeginRequest, outbox: Outbox): void {
    const id = ++this.#lastId;
    const { theirs, reads, changes } = this.#of(outbox);
    const { method, url, headers, body, window } = message;
    const turns = method === 'GET' ? reads : changes;
    const told = acknowledges(method, url) ? new Acknowledged(outbox, this.#caughtUp) : outbox;
    const asked = performance.now();
    const request: InFlight = {
      id,
      engine,
      outbox,
      answer: new Answer(message.id, told),
      theirId: message.id,
      turns,
      begin: () => {
        const lines = [...headers, ...waited(performance.now() - asked)].flat().join('\n');
        engine.request(id, method, url, lines, body, window);
      },
    };
    this.#live.set(id, request);
    theirs.set(message.id, request);
    if (waits(message)) turns.take(request);
    else request.begin();
  }

  /** What a party says of a request that it has begun; of one that is over it may not know yet. */
  tell(message: ToExchange, outbox: Outbox): void {
    const request = this.#parties.get(outbox)?.theirs.get(message.id);
    if (!request) return;
    const { id, engine } = request;
    switch (message.type) {
      case 'body':
        engine.body(id, message.bytes);
        return;
      case 'body-end':
        engine.body(id, null);
        return;
      case 'credit':
        engine.credit(id, message.bytes);
        return;
      case 'cancel':
        this.#over(request);
        engine.cancel(id);
        return;
      default:
        message satisfies never;
    }
  }

  /** Ends every request of a party that is gone. */
  cancelAllOf(outbox: Outbox): void {
    const party = this.#parties.get(outbox);
    this.#parties.delete(outbox);
    for (const request of party?.theirs.values() ?? []) {
      this.#live.delete(request.id);
      request.turns.giveBack(request);
      request.engine.cancel(request.id);
    }
  }

  /** The engine is gone: nobody shall wait for an answer that cannot come. */
  failAll(message: string): void {
    for (const request of this.#live.values()) {
      request.answer.fail(message);
      this.#over(request);
    }
  }

  head(id: number, status: number, headers: string[]): void {
    const pairs: [string, string][] = [];
    for (let i = 0; i + 1 < headers.length; i += 2) {
      pairs.push([headers[i] as string, headers[i + 1] as string]);
    }
    const request = this.#live.get(id);
    if (!request) return;
    request.answer.head(status, pairs);
    request.turns.giveBack(request);
  }

  chunk(id: number, bytes: Uint8Array<ArrayBuffer>): void {
    this.#live.get(id)?.answer.chunk(bytes);
  }

  end(id: number): void {
    const request = this.#live.get(id);
    if (!request) return;
    request.answer.end();
    this.#over(request);
  }

  abort(id: number, message: string): void {
    const request = this.#live.get(id);
    if (!request) return;
    request.answer.fail(message);
    this.#over(request);
  }

  pull(id: number): void {
    const request = this.#live.get(id);
    request?.outbox.post({ type: 'pull', id: request.theirId });
  }

  #of(outbox: Outbox): Party {
    const known = this.#parties.get(outbox);
    if (known) return known;
    const party: Party = { theirs: new Map(), reads: new Turns(), changes: new Turns() };
    this.#parties.set(outbox, party);
    return party;
  }

  #over(request: InFlight): void {
    const { id, outbox, theirId, turns } = request;
    this.#live.delete(id);
    this.#parties.get(outbox)?.theirs.delete(theirId);
    turns.giveBack(request);
  }
}

/** Says to the API server how long a request waited for its turn, if that was a second or more: see core/turns.go. */
function waited(ms: number): HeaderPair[] {
  return ms < 1000 ? [] : [['Kubetab-Waited', `${Math.round(ms)}`]];
}

/**
 * Whether a request waits for its turn. Who asks how the server is does not, and neither does one whose body comes in pieces:
 * the first is on its way.
 */
function waits({ url, body }: BeginRequest): boolean {
  return /^\/apis?\//.test(url) && body !== 'follows';
}

interface Party {
  /** Its requests in flight by its own numbers. */
  readonly theirs: Map<number, InFlight>;
  readonly reads: Turns;
  /** A webhook may have all of them wait, which no read does. */
  readonly changes: Turns;
}

interface InFlight extends Turn {
  readonly id: number;
  /** The engine it was given to: after a restart another one runs. */
  readonly engine: KubetabEngine;
  readonly outbox: Outbox;
  readonly answer: Answer;
  readonly theirId: number;
  /** Those that it takes one of. */
  readonly turns: Turns;
}

/** Answers a request for which there is no engine. */
export function answerUnavailable(
  { id }: BeginRequest,
  outbox: Outbox,
  message: string,
  retryAfterSeconds: number,
): void {
  const { status, headers, body } = unavailable(message, retryAfterSeconds);
  const bytes = new TextEncoder().encode(body);
  outbox.post({ type: 'whole', id, status, headers, bytes });
}
