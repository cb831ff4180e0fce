import type { Kubetab } from './client';
import { make } from './dom';
import type { Words } from './words';

/** The live picture of the cluster below a snippet's bar. */
export class Picture {
  readonly element = make('div', 'picture');
  readonly #words: Words;
  #frame: HTMLIFrameElement | null = null;
  #shows: Kubetab | null = null;

  constructor(words: Words) {
    this.#words = words;
    const note = make('p');
    note.textContent = words.picture;
    this.element.append(note);
  }

  /** Begins to load what shows it, while the engine starts. */
  open(site: URL, isDark: boolean): void {
    if (this.#frame) return;
    const address = new URL('embed.html?panes=picture&engine=asked', site);
    address.searchParams.set('theme', isDark ? 'dark' : 'light');
    this.#frame = make('iframe') as HTMLIFrameElement;
    this.#frame.title = this.#words.pictureTitle;
    this.#frame.src = address.href;
    this.element.replaceChildren(this.#frame);
  }

  show(kubetab: Kubetab): void {
    if (!this.#frame || this.#shows === kubetab) return;
    this.#shows = kubetab;
    // What runs does not depend on it.
    kubetab.show(this.#frame).catch(() => this.element.remove());
  }
}
