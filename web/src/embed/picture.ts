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
    this.#empty();
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
    const frame = this.#frame;
    if (!frame || this.#shows === kubetab) return;
    this.#shows = kubetab;
    // What runs does not depend on it.
    kubetab.show(frame).catch(() => {
      if (this.#frame === frame) this.#empty();
    });
  }

  /** Forgets what could not be loaded, so that the next run tries again. What shows a cluster stays. */
  giveUp(): void {
    if (!this.#shows) this.#empty();
  }

  /** Its room stays, so that nothing moves. */
  #empty(): void {
    const note = make('p');
    note.textContent = this.#words.picture;
    this.element.replaceChildren(note);
    this.#frame = null;
    this.#shows = null;
  }
}
