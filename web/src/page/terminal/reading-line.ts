import { MESSAGE_OSC } from './messages';

/** How the shell begins to tell that a line was entered. */
const ENTERED = `\x1b]${MESSAGE_OSC};history;`;
/** More of a last line than that holds no prompt. */
const MOST = 4000;
/** biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal is told by */
const SEQUENCES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07/g;

/**
 * Finds out from the shell's output whether it reads a line or runs one: Enter begins a new row, then comes a message
 * with the line, what the command prints, and a prompt when it has ended.
 */
export class ReadingLine {
  #tail = '';

  get isReading(): boolean {
    const last = this.#tail.slice(this.#tail.lastIndexOf('\n') + 1);
    return /(^|\s)\$ /.test(last.replaceAll(SEQUENCES, ''));
  }

  /** @returns how many lines were entered in what was printed */
  add(text: string): number {
    this.#tail += text;
    let entries = 0;
    for (;;) {
      const at = this.#tail.indexOf(ENTERED);
      if (at < 0) break;
      this.#tail = this.#tail.slice(at + ENTERED.length);
      entries += 1;
    }
    // The beginning of a message may be all that has come of it, and must stay.
    this.#tail = this.#tail.slice(-MOST);
    return entries;
  }
}
