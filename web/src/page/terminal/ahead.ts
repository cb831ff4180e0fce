/** biome-ignore lint/suspicious/noControlCharactersInRegex: keys that print nothing begin with this one */
const SEQUENCES = /\x1b(\[[0-?]*[ -/]*[@-~]|O.|)/g;

/** What a line is read behind. */
const PROMPT = '$ ';

/** What a shell would show of keys that it has yet to read: its lines, the last of which is being typed. */
export function linesOf(keys: string): string[] {
  const lines: string[] = [];
  let line: string[] = [];
  for (const key of keys.replaceAll(SEQUENCES, '')) {
    if (key === '\r') {
      lines.push(line.join(''));
      line = [];
    } else if (key === '\x7f') line.pop();
    else if (key === '\x15') line = [];
    else if (key >= ' ') line.push(key);
  }
  return [...lines, line.join('')];
}

/** Where keys are drawn. */
interface Paper {
  readonly size: { readonly columns: number };
  write(text: string): void;
}

/** The keys that were typed for a shell that is not there yet, and what stands for them on the screen until it is. */
export class Ahead {
  readonly #paper: Paper;
  #keys = '';
  /** A first command for a newcomer: drawn grey, until the shell offers it or something is typed. */
  #offer = '';
  #isDrawn = false;
  /** How many rows of the drawing are above the cursor. */
  #above = 0;

  constructor(paper: Paper) {
    this.#paper = paper;
  }

  /** Whether there is a line that the shell will run. */
  get hasLine(): boolean {
    return this.#keys.includes('\r');
  }

  get offer(): string {
    return this.#offer;
  }

  propose(offer: string): void {
    if (this.#keys === '') this.#offer = offer;
  }

  type(keys: string): void {
    if (keys === '') return;
    const isTab = keys[0] === '\t';
    // Enter and Tab take what is offered, as in the shell.
    const isTaken = this.#offer !== '' && (isTab || keys[0] === '\r');
    this.#keys += isTaken ? this.#offer + keys.slice(isTab ? 1 : 0) : keys;
    this.#offer = '';
    if (this.#isDrawn) this.draw();
  }

  /** Draws all of it anew, in the place of what was drawn of it before, and from then on what is typed. */
  draw(): void {
    this.erase();
    this.#isDrawn = true;
    const { columns } = this.#paper.size;
    const lines = linesOf(this.#keys).map((line) => PROMPT + line);
    this.#above = lines.length - 1;
    // Every character is taken to be one column wide.
    for (const line of lines) this.#above += Math.floor(Math.max(0, line.length - 1) / columns);
    this.#paper.write(lines.join('\r\n'));
    if (this.#offer) {
      this.#paper.write(`\x1b[90m${this.#offer}\x1b[39m\x1b[${this.#offer.length}D`);
    }
  }

  /** Takes it off the screen, where something else is printed until `draw`. The row of the cursor is empty then. */
  erase(): void {
    this.#isDrawn = false;
    this.#paper.write(`\r${this.#above > 0 ? `\x1b[${this.#above}A` : ''}\x1b[J`);
    this.#above = 0;
  }

  /** @returns all keys, which are the shell's from then on */
  take(): string {
    const keys = this.#keys;
    this.#keys = this.#offer = '';
    return keys;
  }
}
