import { soon } from '../../../wasm/boundary/timers.mjs';

/** How many requests of a party the engine has at once whose answers have not begun. More would not be done sooner. */
const MOST = 8;

/** Milliseconds for which a request has its turn: one that takes longer waits for something, and shall not hold back others. */
const LASTS = 500;

/**
 * Bounds how many requests of a party the engine has at once; the others wait in the order in which they came. Go runs each
 * as far as it gets before JavaScript has its turn again, so a message of another party is read when all that came before it
 * have been served: for 2,000 watches that a script begins at once, after almost three seconds. Those that wait here are
 * let in between the messages of others. core/turns.go does the same for goroutines.
 */
export class Turns {
  /** Those that have a turn, and since when; the oldest is the first. */
  readonly #begun = new Map<Turn, number>();
  readonly #waiting = new Set<Turn>();
  #comes = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Has `turn` begin now, or when there is room. It may be given back while it begins. */
  take(turn: Turn): void {
    if (this.#waiting.size === 0 && this.#room() > 0) this.#give(turn);
    else this.#wait(turn);
  }

  /** Gives a turn back, or no longer waits for it. Of one that was given back it may be called again. */
  giveBack(turn: Turn): void {
    this.#waiting.delete(turn);
    if (!this.#begun.delete(turn) || this.#waiting.size === 0 || this.#comes) return;
    this.#comes = true;
    // Go may be running: it tells of an answer from within.
    soon(() => {
      this.#comes = false;
      this.#next();
    });
  }

  #wait(turn: Turn): void {
    this.#waiting.add(turn);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#next();
    }, LASTS);
  }

  #next(): void {
    let room = this.#room(); // and no more, though the first may be answered before the next begins
    for (const turn of this.#waiting) {
      if (room-- <= 0) break;
      this.#waiting.delete(turn);
      this.#give(turn);
    }
    const [first] = this.#waiting;
    if (first) this.#wait(first);
  }

  #give(turn: Turn): void {
    this.#begun.set(turn, performance.now());
    turn.begin();
  }

  /** How many more may have a turn. */
  #room(): number {
    const now = performance.now();
    for (const [turn, since] of this.#begun) {
      if (now - since < LASTS) break;
      this.#begun.delete(turn);
    }
    return MOST - this.#begun.size;
  }
}

/** What takes a turn: a request. */
export interface Turn {
  /** Called once, or never if it is given back before. */
  begin(): void;
}
