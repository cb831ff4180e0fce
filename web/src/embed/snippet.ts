import type { Kubetab } from './client';
import { type PageEngine, textOf } from './engine';
import { heredoc } from './run';
import { type Kind, kindOf, linesOf, sourceOf } from './source';
import { isDark, styled } from './style';
import { progress, wordsOf } from './words';

/** What a block of code stands in, with its title and buttons: a snippet goes behind that. */
const FRAMES =
  '.code-sample, .highlight, div[class*="language-"], figure, pre, .theme-code-block, .expressive-code';
/** Where the field of a snippet's code is said to be `##CODE##`. */
const CODE = '##CODE##';
/** Lines of output that there is room for, where the text says nothing of what to expect: kubectl apply prints few. */
const LINES = { shell: 5, yaml: 3 };
/** Of 13px/1.5, with the box around them, in pixels. */
const heightOf = (lines: number) => Math.round(lines * 19.5) + 16;

/** What snippets that are run tell, as codapi's do. */
export interface Result {
  readonly ok: boolean;
  /** In ms. */
  readonly duration: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

let engine: PageEngine;

/** To be called once, before there is a snippet. */
export function useEngine(of: PageEngine): void {
  engine = of;
}

/**
 * `<kubetab-snippet>`, around a block of code or behind it: a bar with what can be done with the block, and room for what it
 * prints. Attributes and events have the names that codapi's snippets have; docs/embed.md lists them.
 */
export class Snippet extends HTMLElement {
  #code: HTMLElement | null = null;
  /** As the page has it, for Reset. */
  #written: Node[] = [];
  #text = '';
  #kind: Kind = 'shell';
  #expected: HTMLElement | null = null;
  #output!: HTMLElement;
  /** What holds the output: this element, or another one in the place of what is expected. */
  #place: HTMLElement | null = null;
  #picture: HTMLElement | null = null;
  #status!: HTMLElement;
  #run!: HTMLButtonElement;
  #edit!: HTMLButtonElement;
  #reset!: HTMLButtonElement;
  #running: AbortController | null = null;
  #hasRun = false;
  #isReady = false;

  connectedCallback(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    const delay = Number.parseInt(this.getAttribute('init-delay') ?? '', 10) || 0;
    const begin = () => {
      if (!this.isConnected || !this.#find()) return;
      this.#draw();
      this.dispatchEvent(new Event('load'));
      if (this.hasAttribute('eager')) void engine.get().catch(() => undefined);
    };
    // The parser may not have come to what is in this element, or behind it.
    if (delay > 0) setTimeout(begin, delay);
    else if (document.readyState === 'loading')
      document.addEventListener('DOMContentLoaded', begin, { once: true });
    else begin();
  }

  /** The text of the block: as it is written, or as the reader has changed it. */
  get code(): string {
    return this.#code ? sourceOf(this.#code) : '';
  }

  set code(text: string) {
    if (!this.#code) return;
    this.#code.textContent = text;
    this.#changed();
  }

  /** `unknown`, `running`, `succeded` or `failed`; the names are codapi's. */
  get state(): string {
    return this.getAttribute('state') ?? 'unknown';
  }

  /** Whether it has run with this engine, so that what depends on it need not run it again. */
  #ranIn: Kubetab | null = null;

  /** Runs the block, or stops it. Nothing is thrown: what goes wrong is said in the bar, and by the event `error`. */
  async execute(): Promise<void> {
    if (this.#running) {
      this.#running.abort();
      return;
    }
    const words = wordsOf(this);
    const text = this.code;
    if (!text.trim()) {
      this.#say(words.empty, true);
      return;
    }
    const running = new AbortController();
    this.#running = running;
    this.#show('running');
    this.dispatchEvent(new CustomEvent('execute', { detail: text }));
    this.#openPicture();
    let stop = () => {};
    try {
      stop = engine.follow((state) => {
        if (state?.phase !== 'ready') this.#say(progress(words, state));
      });
      const kubetab = await until(engine.get(), running.signal);
      stop();
      await this.#fillPicture(kubetab);
      this.#say(this.getAttribute('status-running') ?? words.running);
      this.#tell(await this.#runWith(kubetab, running.signal, true));
    } catch (error) {
      stop();
      if (running.signal.aborted) {
        this.#show('unknown');
        this.#say(words.stopped);
        return;
      }
      const why = error instanceof Error ? error.message : String(error);
      this.#show('failed');
      this.#say(words.cannot(why), true);
      this.dispatchEvent(new CustomEvent('error', { detail: error }));
    } finally {
      this.#running = null;
      this.#label();
    }
  }

  /** With what it depends on, once for each engine. */
  async #runWith(kubetab: Kubetab, signal: AbortSignal, isMain: boolean): Promise<Result> {
    const words = wordsOf(this);
    for (const id of named(this, 'depends-on')) {
      const other = document.getElementById(id);
      if (!(other instanceof Snippet)) throw new Error(words.missing(`#${id}`));
      if (other.#ranIn !== kubetab) await other.#runWith(kubetab, signal, false);
    }
    const began = performance.now();
    this.#ranIn = kubetab;
    if (isMain) this.#openOutput();
    const files = await this.#files(words);
    const text = await this.#inTemplate(words);
    const command =
      this.#kind === 'yaml'
        ? `${files}kubectl apply -f - ${heredoc(text)}`
        : files + localFiles(linesOf(text));
    const { stdout, stderr, exitCode } = await kubetab.run(command, { signal });
    if (isMain) {
      this.#print(stdout, 'stdout');
      this.#print(stderr, 'stderr');
    }
    const duration = Math.round(performance.now() - began);
    return { ok: exitCode === 0, duration, stdout, stderr, exitCode };
  }

  async #inTemplate(words: ReturnType<typeof wordsOf>): Promise<string> {
    const name = this.getAttribute('template');
    if (!name) return this.code;
    return (await fetched(name, words)).replace(CODE, () => this.code);
  }

  /** Lines that write the files that this block needs. */
  async #files(words: ReturnType<typeof wordsOf>): Promise<string> {
    const wanted = named(this, 'files').map(async (name) => {
      const [, from = '', as] = /^([^:]*(?::\/\/[^:]*(?::\d+[^:]*)?)?)(?::(.*))?$/.exec(name) ?? [];
      const path = as ?? from.replace(/^#|.*\//g, '');
      return [path, await fetched(from, words)] as const;
    });
    const samples = this.#kind === 'shell' ? samplesIn(this.code) : [];
    return [...(await Promise.all(wanted)), ...samples]
      .map(([path, text]) => `mkdir -p "$(dirname '${path}')" && cat > '${path}' ${heredoc(text)}`)
      .join('');
  }

  #tell(result: Result): void {
    const words = wordsOf(this);
    this.#show(result.ok ? 'succeded' : 'failed');
    this.#output.classList.toggle('is-bad', !result.ok);
    const seconds = (result.duration / 1000).toFixed(1);
    if (result.ok) {
      const done = this.getAttribute('status-done')?.replace('$DURATION', String(result.duration));
      this.#say(done ?? words.done(seconds));
    } else {
      this.#say(this.getAttribute('status-failed') ?? words.failed(result.exitCode), true);
    }
    this.dispatchEvent(new CustomEvent('result', { detail: result }));
  }

  /* ---------- what is there ---------- */

  /** @returns whether there is a block of code for it */
  #find(): boolean {
    const selector = this.getAttribute('selector');
    const inside = this.querySelector('pre');
    const before = this.previousElementSibling ?? this.parentElement?.previousElementSibling;
    const found = selector?.startsWith('@prev')
      ? before?.querySelector(selector.slice(5).trim() || 'pre')
      : selector
        ? document.querySelector(selector)
        : (inside ?? (before?.matches('pre') ? before : before?.querySelector('pre')));
    const code = found?.matches('pre') ? (found.querySelector('code') ?? found) : found;
    if (!(code instanceof HTMLElement)) return false;
    this.#code = code;
    this.#written = [...code.cloneNode(true).childNodes];
    this.#text = sourceOf(code);
    this.#kind = kindOf(code, this.#text);
    const name = nameOf(code);
    if (name && this.#kind === 'yaml') samples.set(name, this);
    this.#expected = this.#findExpected();
    return true;
  }

  /** What the page says that it prints. */
  #findExpected(): HTMLElement | null {
    const output = this.getAttribute('output');
    if (output === null) return null;
    const [first = '', ...rest] = output.split(' ');
    const next = this.nextElementSibling ?? this.parentElement?.nextElementSibling ?? null;
    let found = output && first !== '@next' ? document.querySelector(output) : next;
    if (first === '@next' && rest.length > 0) found = next?.querySelector(rest.join(' ')) ?? null;
    return found instanceof HTMLElement ? found : null;
  }

  #draw(): void {
    const words = wordsOf(this);
    const root = styled(this.attachShadow({ mode: 'open' }));
    const bar = make('div', 'bar');
    this.#run = button('run', () => void this.execute());
    this.#edit = button('', () => this.#toggleEdit(), words.edit);
    this.#reset = button('', () => this.#restore(), words.reset);
    const open = make('a') as HTMLAnchorElement;
    open.textContent = words.open;
    open.target = '_blank';
    open.rel = 'noopener';
    open.href = engine.settings.site.href;
    // What is opened is what stands here when it is clicked; a link has its address before.
    open.addEventListener('pointerenter', () => this.#address(open).catch(() => undefined));
    open.addEventListener('focus', () => this.#address(open).catch(() => undefined));
    this.#status = make('p', 'status');
    this.#status.setAttribute('role', 'status');
    this.#reset.hidden = true;
    this.#edit.hidden = this.getAttribute('editor') === 'off';
    bar.append(this.#run, this.#edit, this.#reset, open, this.#status);
    const below = make('div', 'below');
    this.#output = make('pre', 'output');
    this.#output.tabIndex = 0;
    this.#output.setAttribute('aria-label', words.output);
    this.#output.translate = false;
    this.#output.hidden = true;
    if (!this.#expected) below.append(this.#output);
    if (this.hasAttribute('picture')) {
      this.#picture = make('div', 'picture');
      const note = make('p');
      note.textContent = words.picture;
      this.#picture.append(note);
      below.append(this.#picture);
    }
    root.append(make('slot'), bar, below);
    this.#label();
    this.#paint();
    grounds.add(() => this.#paint());
    this.#code?.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        void this.execute();
      } else if (event.key === 'Escape' && this.#code?.isContentEditable) {
        this.#toggleEdit();
        this.#edit.focus();
      }
    });
    this.#code?.addEventListener('input', () => this.#changed());
  }

  #label(): void {
    const words = wordsOf(this);
    const isOn = this.#running !== null;
    const word = isOn ? words.stop : this.#kind === 'yaml' ? words.apply : words.run;
    this.#run.replaceChildren(icon(isOn ? 'M5 5h10v10H5z' : 'M6 3.5v13l10-6.5z'), word);
    this.#run.classList.toggle('is-on', isOn);
  }

  #paint(): void {
    for (const element of [this, this.#place]) {
      element?.toggleAttribute('data-dark', isDark(element.parentElement ?? element));
    }
  }

  #say(text: string, isBad = false): void {
    this.#status.textContent = text;
    this.#status.classList.toggle('is-bad', isBad);
  }

  #show(state: string): void {
    this.setAttribute('state', state);
    this.#label();
  }

  /* ---------- editing ---------- */

  #toggleEdit(): void {
    const code = this.#code;
    if (!code) return;
    const on = !code.isContentEditable;
    // The colours of a highlighter are those of the text that it has read.
    if (on && code.firstElementChild) code.textContent = sourceOf(code);
    code.contentEditable = on ? 'plaintext-only' : 'inherit';
    code.spellcheck = false;
    this.#edit.setAttribute('aria-pressed', String(on));
    if (on) code.focus();
  }

  #changed(): void {
    this.#reset.hidden = this.code === this.#text && !this.#hasRun;
  }

  /** As the page has it: the text, and what it expects. */
  #restore(): void {
    this.#running?.abort();
    const code = this.#code;
    if (code?.isContentEditable) this.#toggleEdit();
    code?.replaceChildren(...this.#written.map((node) => node.cloneNode(true)));
    this.#hasRun = false;
    this.#output.hidden = true;
    this.#output.textContent = '';
    if (this.#place) this.#place.hidden = true;
    this.#expected?.style.removeProperty('display');
    this.#say('');
    this.#show('unknown');
    this.#changed();
    this.#run.focus();
  }

  /* ---------- output ---------- */

  /** Makes room, once: neither what comes nor that it ends moves the page. */
  #openOutput(): void {
    const mode = this.getAttribute('output-mode');
    this.#hasRun = true;
    this.#changed();
    if (mode === 'hidden') return;
    const lines = Number.parseInt(this.getAttribute('output-lines') ?? '', 10) || LINES[this.#kind];
    if (this.#output.hidden) {
      const expected = this.#expected;
      this.#output.style.height = `${expected ? Math.max(expected.offsetHeight, heightOf(2)) : heightOf(lines)}px`;
      if (expected && !this.#place) {
        this.#place = document.createElement('kubetab-output');
        styled(this.#place.attachShadow({ mode: 'open' })).append(this.#output);
        const { marginTop, marginBottom } = getComputedStyle(expected);
        this.#place.style.margin = `${marginTop} 0 ${marginBottom}`;
        expected.before(this.#place);
        this.#paint();
      }
      if (this.#place) this.#place.hidden = false;
      if (expected) expected.style.display = 'none';
      this.#output.hidden = false;
    }
    this.#output.textContent = '';
    this.#output.classList.remove('is-bad');
  }

  #print(text: string, stream: string): void {
    if (text === '') return;
    const span = make('span', stream);
    span.textContent = text;
    this.#output.append(span);
  }

  /* ---------- the picture, and the workbench ---------- */

  #frame: HTMLIFrameElement | null = null;
  #shows: Kubetab | null = null;

  #openPicture(): void {
    if (!this.#picture || this.#frame) return;
    const address = new URL('embed.html?panes=picture&engine=asked', engine.settings.site);
    address.searchParams.set('theme', this.hasAttribute('data-dark') ? 'dark' : 'light');
    this.#frame = document.createElement('iframe');
    this.#frame.title = wordsOf(this).pictureTitle;
    this.#frame.src = address.href;
    this.#picture.replaceChildren(this.#frame);
  }

  async #fillPicture(kubetab: Kubetab): Promise<void> {
    if (!this.#frame || this.#shows === kubetab) return;
    this.#shows = kubetab;
    // What runs does not depend on it.
    kubetab.show(this.#frame).catch(() => this.#picture?.remove());
  }

  async #address(link: HTMLAnchorElement): Promise<void> {
    const isYaml = this.#kind === 'yaml';
    const path =
      (isYaml && this.#code && nameOf(this.#code)) || (isYaml ? 'manifest.yaml' : 'lines.sh');
    const text = isYaml ? this.code : linesOf(this.code);
    const files = isYaml ? [] : samplesIn(this.code).map(([path, text]) => ({ path, text }));
    const { pack } = await engine.client();
    const packed = await pack([{ path, text: `${text}\n` }, ...files]);
    const address = new URL(engine.settings.site);
    address.hash = `shared/${packed}`;
    link.href = address.href;
  }
}

/* ---------- files that lines name by an address, and that are blocks of the page ---------- */

const samples = new Map<string, Snippet>();

/** The name that a page gives a block: kubernetes.io's samples have it in a link to the file. */
function nameOf(code: Element): string {
  const link = code.closest('.code-sample')?.querySelector('a[download]');
  const name =
    link?.getAttribute('download') ?? code.closest('[data-file]')?.getAttribute('data-file');
  return /^[\w.-]+(\/[\w.-]+)*$/.test(name ?? '') ? (name ?? '') : '';
}

const ADDRESS = /https?:\/\/[\w.:-]+\/[\w./-]+/g;

function samplesIn(text: string): [string, string][] {
  const found = new Map<string, string>();
  for (const [address] of text.matchAll(ADDRESS)) {
    for (const [name, { code }] of samples) if (address.endsWith(`/${name}`)) found.set(name, code);
  }
  return [...found];
}

/** There is no network for what runs: an address of one of the page's own blocks becomes the file. */
function localFiles(text: string): string {
  return text.replace(ADDRESS, (address) => {
    for (const name of samples.keys()) if (address.endsWith(`/${name}`)) return name;
    return address;
  });
}

/* ---------- small things ---------- */

/** What is to be looked at again when the page may have another ground. */
const grounds = new Set<() => void>();

export function followGround(): void {
  const look = () =>
    requestAnimationFrame(() => {
      for (const paint of grounds) paint();
    });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', look);
  const attributes = {
    attributes: true,
    attributeFilter: ['class', 'data-theme', 'style', 'data-bs-theme'],
  };
  const observer = new MutationObserver(look);
  observer.observe(document.documentElement, attributes);
  observer.observe(document.body, attributes);
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

function named(element: Element, attribute: string): string[] {
  return (element.getAttribute(attribute) ?? '').split(/\s+/).filter(Boolean);
}

async function fetched(name: string, words: ReturnType<typeof wordsOf>): Promise<string> {
  try {
    return await textOf(name);
  } catch {
    throw new Error(name.startsWith('#') ? words.missing(name) : words.unreachable(name));
  }
}

function until<T>(promised: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    promised.then(resolve, reject);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function make(name: string, className = ''): HTMLElement {
  const element = document.createElement(name);
  if (className) element.className = className;
  return element;
}

function button(className: string, onClick: () => void, text = ''): HTMLButtonElement {
  const element = make('button', className) as HTMLButtonElement;
  element.type = 'button';
  element.textContent = text;
  element.addEventListener('click', onClick);
  return element;
}

function icon(path: string): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('fill', 'currentColor');
  svg.setAttribute('aria-hidden', 'true');
  const shape = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}
