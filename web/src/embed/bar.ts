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
    const open = workbenchLink(words.open, site, actions.address);
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

/** A link to the workbench with what stands in the snippet when it is clicked. */
function workbenchLink(text: string, site: URL, addressNow: () => Promise<string>): HTMLElement {
  const link = make('a') as HTMLAnchorElement;
  link.textContent = text;
  link.target = '_blank';
  link.rel = 'noopener';
  link.href = site.href;
  // For who copies the address, or opens it by the browser's menu.
  const tellAddress = () =>
    addressNow().then(
      (href) => {
        link.href = href;
      },
      () => undefined,
    );
  link.addEventListener('pointerenter', tellAddress);
  link.addEventListener('focus', tellAddress);
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    // A finger comes and clicks at once. A tab may be opened now, and no longer when its address is known.
    const tab = window.open('', '_blank');
    if (!tab) return; // the browser follows the link
    event.preventDefault();
    tab.opener = null;
    void tellAddress().then(() => tab.location.replace(link.href));
  });
  return link;
}
