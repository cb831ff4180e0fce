import type { EngineState } from '../protocol';
import type { Kubetab } from './client';
import { type Words, wordsOf } from './words';

/** What the script's own element says, as attributes with `data-`. */
export interface Settings {
  /** The folder that embed.js is in: a site with Kubetab. */
  readonly site: URL;
  /** Manifests that every cluster begins with: see `textOf`. */
  readonly setup: string;
  readonly bundle: string;
  /** Names the shell of snippets that name none; "" gives each its own. */
  readonly session: string;
}

/** What is not needed before something runs: embed-client.js, which is site.ts. */
type OfSite = typeof import('./site');

/** The one engine of a page: begun when something is to run first, and shared by all that runs. */
export class PageEngine {
  readonly settings: Settings;
  #begun: Promise<Kubetab> | null = null;
  #state: EngineState | null = null;
  readonly #listeners = new Set<(state: EngineState | null) => void>();

  constructor(settings: Settings) {
    this.settings = settings;
  }

  #client: Promise<OfSite> | null = null;

  /** @throws Error with a sentence; the next call tries again */
  client(): Promise<OfSite> {
    const { href, origin } = new URL('embed-client.js', this.settings.site);
    this.#client ??= (import(/* @vite-ignore */ href) as Promise<OfSite>).catch(() => {
      this.#client = null;
      throw new Error(`${origin} cannot be reached.`);
    });
    return this.#client;
  }

  /** @throws Error with a sentence; the next call tries again */
  get(): Promise<Kubetab> {
    this.#begun ??= this.#begin().catch((error: unknown) => {
      this.#begun = null;
      throw error;
    });
    return this.#begun;
  }

  /** Tells at once, and again, how far a start has come. @returns takes the listener away again */
  follow(listener: (state: EngineState | null) => void): () => void {
    this.#listeners.add(listener);
    listener(this.#state);
    return () => this.#listeners.delete(listener);
  }

  async #begin(): Promise<Kubetab> {
    const { site, setup, bundle } = this.settings;
    const { start } = await this.client();
    const kubetab = await start({
      iframe: new URL('embed.html', site),
      ...(bundle && { bundle: new URL(bundle, document.baseURI) }),
      onState: (state) => {
        this.#state = state;
        for (const listener of this.#listeners) listener(state);
      },
    });
    kubetab.closed.addEventListener('abort', () => {
      this.#begun = null;
    });
    try {
      for (const name of setup.split(/\s+/).filter(Boolean)) {
        const text = await textOf(name, wordsOf(document.documentElement));
        const { stderr, exitCode } = await kubetab.apply(text);
        if (exitCode !== 0) throw new Error(stderr);
      }
    } catch (error) {
      kubetab.close(); // the next try has another
      throw error;
    }
    return kubetab;
  }
}

/**
 * A text that is elsewhere.
 *
 * @param name `#id` of an element of this page, or an address
 * @throws Error with a sentence
 */
export async function textOf(name: string, words: Words): Promise<string> {
  if (name.startsWith('#')) {
    const element = document.getElementById(name.slice(1));
    if (!element) throw new Error(words.missing(name));
    return 'code' in element ? String(element.code) : (element.textContent ?? '');
  }
  const answer = await fetch(new URL(name, document.baseURI)).catch(() => null);
  if (!answer?.ok) throw new Error(words.unreachable(name));
  return answer.text();
}
