/** Between the last thing that was to come and the end: what it has woken may begin something. */
const PAUSE = 30;

/**
 * Tells when nothing of a script can happen any more, as Node does by ending: its text has been run, no timer is set, no
 * request is under way, and nobody waits for more of a body.
 */
export class Pending {
  readonly #later = self.setTimeout.bind(self);
  readonly #onEnd: () => void;
  #count = 1; // the text itself
  #changes = 0;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  began(): void {
    this.#count++;
    this.#changes++;
  }

  over(): void {
    this.#count--;
    const change = ++this.#changes;
    if (this.#count > 0) return;
    this.#later(() => {
      if (change === this.#changes) this.#onEnd();
    }, PAUSE);
  }

  /** Counts a promise until it is settled. */
  async of<T>(promised: Promise<T>): Promise<T> {
    this.began();
    try {
      return await promised;
    } finally {
      this.over();
    }
  }

  /** Replaces the functions of the worker by which a script can wait. */
  watch(): void {
    this.#watchTimers();
    const pending = this;
    const waiting = <T extends object>(of: T, name: keyof T) => {
      const own = of[name];
      if (typeof own !== 'function') return; // of a later browser
      of[name] = function (this: T, ...args: unknown[]) {
        return pending.of(own.apply(this, args) as Promise<unknown>);
      } as T[keyof T];
    };
    for (const type of [Response.prototype, Request.prototype]) {
      for (const name of ['text', 'json', 'arrayBuffer', 'blob', 'bytes'] as const) {
        waiting(type as Body & Record<typeof name, unknown>, name);
      }
    }
    waiting(ReadableStreamDefaultReader.prototype, 'read');
  }

  #watchTimers(): void {
    const { setTimeout, setInterval, clearTimeout } = self;
    const set = new Set<number>();
    const forget = (id: number | undefined) => {
      if (id !== undefined && set.delete(id)) this.over();
    };
    const start =
      (begin: typeof setTimeout, again: boolean) =>
      (run: unknown, ms?: number, ...args: unknown[]) => {
        this.began();
        const id = begin.call(
          self,
          () => {
            try {
              if (typeof run === 'function') run(...args);
            } finally {
              if (!again) forget(id);
            }
          },
          ms,
        );
        set.add(id);
        return id;
      };
    const stop = (id?: number) => {
      clearTimeout.call(self, id);
      forget(id);
    };
    // One list for both, as the standard has it.
    Object.assign(self, {
      setTimeout: start(setTimeout, false),
      setInterval: start(setInterval as typeof setTimeout, true),
      clearTimeout: stop,
      clearInterval: stop,
    });
  }
}
