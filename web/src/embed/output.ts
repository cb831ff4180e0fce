import { make } from './dom';
import type { Piece } from './run';
import type { Kind } from './source';
import { styled } from './style';

/** Height of the output in lines, where there is no expected output: kubectl apply prints few. */
const LINES: Readonly<Record<Kind, number>> = { shell: 5, yaml: 3 };
/** Of 13px/1.5, with the box around them, in pixels. */
const heightOf = (lines: number) => Math.round(lines * 19.5) + 16;

/** How much of what is printed stays to be read, in characters. */
const MOST = 500_000;

/**
 * The element with the output of a snippet. It is made once, in the place of the expected output or below the bar, and
 * keeps its height: neither new output nor the end of a command moves the page.
 */
export class Output {
  /** Is below the bar, unless something is expected. */
  readonly element = make('pre', 'output');
  readonly #expected: HTMLElement | null;
  /** Holds the output in the place of the expected output. */
  #place: HTMLElement | null = null;
  #size = 0;
  /** Whether the room below the bar stays. */
  #isReserved = false;

  constructor(label: string, expected: HTMLElement | null) {
    this.#expected = expected;
    this.element.tabIndex = 0;
    this.element.role = 'group';
    this.element.ariaLabel = label;
    this.element.translate = false;
    this.element.hidden = true;
  }

  get place(): HTMLElement | null {
    return this.#place;
  }

  /** Whether the output takes the place of an expected output, which is hidden then. */
  get isTaken(): boolean {
    return this.#expected !== null;
  }

  /**
   * Makes room.
   *
   * @param lines that there is room for from now on, where nothing is expected; NaN for as many as such a block usually
   *   prints, until `close`
   */
  open(lines: number, kind: Kind): void {
    if (!this.element.hidden) return;
    const expected = this.#expected;
    this.#isReserved = lines > 0 && !expected;
    const height = expected
      ? Math.max(expected.offsetHeight, heightOf(2))
      : heightOf(lines || LINES[kind]);
    this.element.style.height = `${height}px`;
    if (expected && !this.#place) {
      this.#place = make('kubetab-output');
      styled(this.#place.attachShadow({ mode: 'open' })).append(this.element);
      const { marginTop, marginBottom } = getComputedStyle(expected);
      this.#place.style.margin = `${marginTop} 0 ${marginBottom}`;
      expected.before(this.#place);
    }
    if (this.#place) this.#place.hidden = false;
    if (expected) expected.style.display = 'none';
    this.element.hidden = false;
  }

  /** The end of what is printed stays in sight, unless the reader has gone up. */
  print({ stdout = '', stderr = '' }: Piece): void {
    const text = stdout + stderr;
    if (text === '') return;
    const { element } = this;
    const isAtEnd = element.scrollTop + element.clientHeight > element.scrollHeight - 8;
    const span = make('span', stderr && 'stderr');
    span.textContent = text;
    element.append(span);
    // What goes on without end would fill the page.
    this.#size += text.length;
    for (let first = element.firstChild; this.#size > MOST && first !== span; ) {
      this.#size -= first?.textContent?.length ?? 0;
      first?.remove();
      first = element.firstChild;
    }
    if (isAtEnd) element.scrollTop = element.scrollHeight;
  }

  set isBad(on: boolean) {
    this.element.classList.toggle('is-bad', on);
  }

  get isEmpty(): boolean {
    return this.element.firstChild === null;
  }

  /** What is expected stands in its place again. */
  close(): void {
    this.element.hidden = !this.#isReserved;
    this.clear();
    if (this.#place) this.#place.hidden = true;
    this.#expected?.style.removeProperty('display');
  }

  clear(): void {
    this.element.textContent = '';
    this.#size = 0;
    this.isBad = false;
  }
}
