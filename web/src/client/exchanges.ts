import type { BeginRequest, FromExchange, ToEngine, ToExchange } from '../protocol';

type WithoutId<M> = M extends unknown ? Omit<M, 'id'> : never;

/** What a party says of one of its requests. */
export type Saying = WithoutId<BeginRequest | ToExchange>;

/** The party's end of one request. */
export interface Exchange {
  say(message: Saying, transfer?: Transferable[]): void;
  /** Nothing more is heard of the request. */
  close(): void;
}

/** The requests of one party, by the numbers that it gives them on its control port. */
export class Exchanges {
  readonly #post: (message: ToEngine, transfer: Transferable[]) => void;
  readonly #open = new Map<number, (message: FromExchange) => void>();
  #last = 0;

  constructor(post: (message: ToEngine, transfer: Transferable[]) => void) {
    this.#post = post;
  }

  /** @param onMessage hears what the engine has to say, until the exchange is closed */
  open(onMessage: (message: FromExchange) => void): Exchange {
    const id = ++this.#last;
    this.#open.set(id, onMessage);
    return {
      say: (message, transfer = []) => this.#post({ ...message, id }, transfer),
      close: () => {
        this.#open.delete(id);
      },
    };
  }

  deliver(answers: readonly FromExchange[]): void {
    for (const answer of answers) this.#open.get(answer.id)?.(answer);
  }
}
