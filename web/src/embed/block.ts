import { type Kind, kindOf, sourceOf } from './source';

/** What a block of code stands in, with its title and buttons: a snippet goes behind that. */
const FRAMES =
  '.code-sample, .highlight, div[class*="language-"], figure, pre, .theme-code-block, .expressive-code';

/** The block of code that a snippet is for. */
export class Block {
  readonly element: HTMLElement;
  readonly kind: Kind;
  /** As the page has it. */
  readonly text: string;
  readonly #written: Node[];

  constructor(element: HTMLElement) {
    this.element = element;
    this.#written = [...element.cloneNode(true).childNodes];
    this.text = sourceOf(element);
    this.kind = kindOf(element, this.text);
  }

  /** As it is written, or as the reader has changed it. */
  get code(): string {
    return sourceOf(this.element);
  }

  set code(text: string) {
    this.element.textContent = text;
  }

  get isEdited(): boolean {
    return this.element.isContentEditable;
  }

  edit(on: boolean): void {
    const { element } = this;
    // The colours of a highlighter are those of the text that it has read.
    if (on && element.firstElementChild) this.code = this.code;
    element.contentEditable = on ? 'plaintext-only' : 'inherit';
    element.spellcheck = false;
    if (on) element.focus();
  }

  restore(): void {
    this.edit(false);
    this.element.replaceChildren(...this.#written.map((node) => node.cloneNode(true)));
  }
}

/** By the attribute `selector`, else in the snippet, else before it. */
export function blockOf(snippet: Element): Block | null {
  const selector = snippet.getAttribute('selector');
  const inside = snippet.querySelector('pre');
  const before = snippet.previousElementSibling ?? snippet.parentElement?.previousElementSibling;
  const found = selector?.startsWith('@prev')
    ? before?.querySelector(selector.slice(5).trim() || 'pre')
    : selector
      ? document.querySelector(selector)
      : (inside ?? (before?.matches('pre') ? before : before?.querySelector('pre')));
  const code = found?.matches('pre') ? (found.querySelector('code') ?? found) : found;
  return code instanceof HTMLElement ? new Block(code) : null;
}

/** What the page says that a block prints, by the attribute `output`. */
export function expectedOf(snippet: Element): HTMLElement | null {
  const output = snippet.getAttribute('output');
  if (output === null) return null;
  const [first = '', ...rest] = output.split(' ');
  const next = snippet.nextElementSibling ?? snippet.parentElement?.nextElementSibling ?? null;
  let found = output && first !== '@next' ? document.querySelector(output) : next;
  if (first === '@next' && rest.length > 0) found = next?.querySelector(rest.join(' ')) ?? null;
  return found instanceof HTMLElement ? found : null;
}

export function frameOf(code: Element): Element {
  let frame: Element = code.closest('pre') ?? code;
  for (
    let at = frame.parentElement;
    at?.matches(FRAMES) || at?.parentElement?.matches('.code-sample');
    at = at.parentElement
  ) {
    frame = at;
  }
  return frame;
}
