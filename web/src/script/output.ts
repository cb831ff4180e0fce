import type { OutputLine } from './messages';

/** Between two messages, in ms. */
const PAUSE = 100;
/** Of one message: a loop that prints for ever must not fill the page's thread. */
const MOST_LINES = 200;
const LONGEST_LINE = 10_000;

type Later = (run: () => void, ms: number) => unknown;

/** Gathers what a script prints, so that the page hears of it at most ten times a second. */
export class Output {
  readonly #send: (lines: readonly OutputLine[], left: number) => void;
  readonly #later: Later;
  #lines: OutputLine[] = [];
  #left = 0;
  #sentAt = -PAUSE;
  #waits = false;

  /**
   * @param later setTimeout, which may have been replaced since
   */
  constructor(send: (lines: readonly OutputLine[], left: number) => void, later: Later) {
    this.#send = send;
    this.#later = later;
  }

  /** A script that never pauses is heard, too: what it prints is sent while it goes on. */
  add(level: OutputLine['level'], text: string, line = 0): void {
    if (this.#lines.length < MOST_LINES) {
      const cut = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}...` : text;
      this.#lines.push({ level, text: cut, line });
    } else {
      this.#left++;
    }
    if (performance.now() - this.#sentAt >= PAUSE) this.flush();
    else if (!this.#waits) {
      this.#waits = true;
      this.#later(() => {
        this.#waits = false;
        this.flush();
      }, PAUSE);
    }
  }

  flush(): void {
    if (this.#lines.length === 0) return;
    this.#send(this.#lines, this.#left);
    this.#lines = [];
    this.#left = 0;
    this.#sentAt = performance.now();
  }
}
