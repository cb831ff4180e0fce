import { button, icon, make } from './dom';
import type { Words } from './words';

const RUN = 'M6 3.5v13l10-6.5z';
const STOP = 'M5 5h10v10H5z';

/** What a bar's buttons do. */
export interface Actions {
  readonly run: () => void;
  readonly edit: () => void;
  readonly reset: () => void;
  /** @returns the address of the workbench with what stands here now */
  readonly address: () => Promise<string>;
}

/** The bar of a snippet: its buttons, and a line that says how it is. */
export class Bar {
  readonly element = make('div', 'bar');
  readonly run: HTMLButtonElement;
  readonly edit: HTMLButtonElement;
  readonly reset: HTMLButtonElement;
  readonly #status = make('p', 'status');

  /** @param site what the link leads to before anything is known to be opened there */
  constructor(words: Words, site: URL, actions: Actions) {
    this.run = button('run', actions.run);
    this.edit = button('', actions.edit, words.edit);
    this.reset = button('reset', actions.reset, words.reset);
    this.reset.hidden = true;
    const open = make('a') as HTMLAnchorElement;
    open.textContent = words.open;
    open.target = '_blank';
    open.rel = 'noopener';
    open.href = site.href;
    // What is opened is what stands here when it is clicked; a link has its address before.
    const address = () =>
      actions.address().then(
        (href) => {
          open.href = href;
        },
        () => undefined,
      );
    open.addEventListener('pointerenter', address);
    open.addEventListener('focus', address);
    this.#status.setAttribute('role', 'status');
    this.element.append(this.run, this.edit, open, this.reset, this.#status);
  }

  /** @param stops whether the first button stops what runs */
  label(word: string, stops: boolean): void {
    this.run.replaceChildren(icon(stops ? STOP : RUN), word);
    this.run.classList.toggle('is-on', stops);
  }

  say(text: string, isBad = false): void {
    this.#status.textContent = text;
    this.#status.classList.toggle('is-bad', isBad);
  }
}
