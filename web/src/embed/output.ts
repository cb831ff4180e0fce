import { button, icon, make } from './dom';
import type { Piece } from './run';
import { styled } from './style';
import type { Words } from './words';

const DOWN = 'M4 7l6 6 6-6-1.4-1.4L10 10.2 5.4 5.6z';

/** How much of what is printed stays to be read, in characters. */
const MOST = 500_000;

/** How much of the window's height an output is given that is shown whole. */
const TALLEST = 0.7;

/** Room below the bar of a snippet, for as many lines as its attribute says, or for a few. */
export function roomFor(snippet: Element): HTMLElement {
  const room = make('div', 'room');
  const lines = Number.parseInt(snippet.getAttribute('output-lines') ?? '', 10);
  if (lines > 0) room.style.setProperty('--lines', String(lines));
  return room;
}

/**
 * What a snippet prints. It fills room that the page has from the start: that of the expected output, or some below the
 * bar. What does not fit is scrolled to, or shown when the reader asks for it; nothing that is printed moves the page.
 */
export class Output {
  /** What the page says that is printed stays where it is, and is not seen while the output covers it. */
  readonly #expected: HTMLElement | null;
  readonly #room: HTMLElement;
  readonly #text = make('pre', 'output');
  readonly #more: HTMLButtonElement;
  #cover: HTMLElement | null = null;
  #size = 0;

  /** @param room in the page, below the bar, unless something is expected */
  constructor(words: Words, room: HTMLElement, expected: HTMLElement | null) {
    this.#expected = expected;
    this.#room = expected ?? room;
    this.#text.tabIndex = 0;
    this.#text.role = 'group';
    this.#text.ariaLabel = words.output;
    this.#text.translate = false;
    this.#more = button('more', () => this.showWhole(!this.#isWhole));
    this.#more.append(icon(DOWN));
    this.#more.ariaLabel = this.#more.title = words.whole;
    this.#more.ariaExpanded = 'false';
    this.#more.hidden = true;
    if (!expected) room.append(this.#text, this.#more);
  }

  /** Lies upon what is expected, in the page, once something has run. */
  get cover(): HTMLElement | null {
    return this.#cover;
  }

  /** What is expected is seen no more. */
  open(): void {
    const expected = this.#expected;
    if (!expected) return;
    if (!this.#cover) {
      this.#cover = make('kubetab-output');
      this.#cover.style.position = 'absolute';
      styled(this.#cover.attachShadow({ mode: 'open' })).append(this.#text, this.#more);
      expected.before(this.#cover);
      new ResizeObserver(() => this.#fit()).observe(expected);
    }
    expected.style.visibility = 'hidden';
    this.#cover.hidden = false;
    this.#fit();
  }

  /** The end of what is printed stays in sight, unless the reader has gone up. */
  print({ stdout = '', stderr = '' }: Piece): void {
    const text = stdout + stderr;
    if (text === '') return;
    const element = this.#text;
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
    if (element.scrollHeight > element.clientHeight) this.#more.hidden = false;
  }

  set isBad(on: boolean) {
    this.#text.classList.toggle('is-bad', on);
  }

  get isEmpty(): boolean {
    return this.#text.firstChild === null;
  }

  /** What is expected is seen again. */
  close(): void {
    this.clear();
    if (this.#cover) this.#cover.hidden = true;
    this.#expected?.style.removeProperty('visibility');
  }

  clear(): void {
    this.#text.textContent = '';
    this.#size = 0;
    this.isBad = false;
    this.#more.hidden = !this.#isWhole;
  }

  get #isWhole(): boolean {
    return this.#more.ariaExpanded === 'true';
  }

  /** Makes the room as high as what has been printed, for the reader who asks for it, or as high as it was. */
  showWhole(on: boolean): void {
    const { scrollHeight, offsetHeight, clientHeight } = this.#text;
    const height = Math.min(scrollHeight + offsetHeight - clientHeight, innerHeight * TALLEST);
    this.#room.style.minHeight = on ? `${height}px` : '';
    this.#more.ariaExpanded = String(on);
    this.#fit();
  }

  /** Lays the cover upon what is expected, wherever the page's style sheets have that. */
  #fit(): void {
    if (!this.#cover || !this.#expected) return;
    const { style } = this.#cover;
    const { left, top, width, height } = this.#expected.getBoundingClientRect();
    Object.assign(style, { width: `${width}px`, height: `${height}px`, margin: '0' });
    const at = this.#cover.getBoundingClientRect();
    style.margin = `${top - at.top}px 0 0 ${left - at.left}px`;
  }
}
