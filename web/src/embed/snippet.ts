import { Bar } from './bar';
import { type Block, blockOf, expectedOf } from './block';
import type { Kubetab } from './client';
import { commandOf } from './command';
import { listOf, make } from './dom';
import type { PageEngine } from './engine';
import { isDark, onGround } from './ground';
import { Output, roomFor } from './output';
import { Picture } from './picture';
import type { CommandResult } from './run';
import { keepSample, nameOf, samplesIn } from './samples';
import { endShell, inTurn, type Shell, shellOf, until } from './shells';
import { linesOf } from './source';
import { styled } from './style';
import { progress, type Words, wordsOf } from './words';

/** What snippets that are run tell, as codapi's do. */
export interface Result extends CommandResult {
  readonly ok: boolean;
  /** In ms. */
  readonly duration: number;
}

let engine: PageEngine;

/** To be called once, before there is a snippet. */
export function useEngine(of: PageEngine): void {
  engine = of;
}

/** Why what ran was stopped. */
const RESET = 'reset';

let made = 0;

/**
 * `<kubetab-snippet>`, around a block of code or behind it: a bar with what can be done with the block, and room for what it
 * prints. Attributes and events have the names that codapi's snippets have; docs/embed.md lists them.
 */
export class Snippet extends HTMLElement {
  #block!: Block;
  #words!: Words;
  #bar!: Bar;
  #output!: Output;
  #picture: Picture | null = null;
  #running: AbortController | null = null;
  #hasRun = false;
  #isReady = false;
  /** Of the shell that is this snippet's alone. */
  readonly #name = `/${++made}`;

  connectedCallback(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    const delay = Number.parseInt(this.getAttribute('init-delay') ?? '', 10) || 0;
    const begin = () => {
      const block = this.isConnected && blockOf(this);
      if (!block) {
        this.shadowRoot?.replaceChildren(make('slot'));
        return;
      }
      this.#draw(block);
      this.dispatchEvent(new Event('load'));
      if (this.hasAttribute('eager')) void engine.get().catch(() => undefined);
    };
    // The parser may not have come to what is in this element, or behind it.
    if (delay > 0) {
      // The bar and the output have their room meanwhile.
      const root = styled(this.attachShadow({ mode: 'open' }));
      root.append(make('slot'), make('div', 'bar'));
      if (!this.hasAttribute('output') && !this.#isQuiet) root.append(roomFor(this));
      setTimeout(begin, delay);
    } else if (document.readyState === 'loading') {
      document.addEventListener('DOMContentLoaded', begin, { once: true });
    } else {
      begin();
    }
  }

  /** What nobody can stop any more is stopped, unless the element was only moved. */
  disconnectedCallback(): void {
    queueMicrotask(() => {
      if (!this.isConnected) this.#running?.abort();
    });
  }

  /** The text of the block: as it is written, or as the reader has changed it. */
  get code(): string {
    return this.#block?.code ?? '';
  }

  set code(text: string) {
    if (!this.#block) return;
    this.#block.code = text;
    this.#changed();
  }

  /** `unknown`, `running`, `succeded` or `failed`; the names are codapi's. */
  get state(): string {
    return this.getAttribute('state') ?? 'unknown';
  }

  /** Runs the block, or stops it. Nothing is thrown: what goes wrong is said in the bar, and by the event `error`. */
  async execute(): Promise<void> {
    if (this.#running) {
      this.#running.abort();
      return;
    }
    const words = this.#words;
    const text = this.code;
    if (!text.trim()) {
      this.#bar.say(words.empty, true);
      return;
    }
    const running = new AbortController();
    this.#running = running;
    this.#show('running');
    this.dispatchEvent(new CustomEvent('execute', { detail: text }));
    this.#picture?.open(engine.settings.site, this.hasAttribute('data-dark'));
    let stop = () => {};
    try {
      stop = engine.follow((state) => {
        if (state?.phase !== 'ready') this.#bar.say(progress(words, state));
      });
      const kubetab = await until(engine.get(), running.signal);
      stop();
      this.#picture?.show(kubetab);
      this.#tell(await this.#run(kubetab, running.signal, true));
    } catch (error) {
      stop();
      if (this.#output.isEmpty) this.#output.close();
      this.#picture?.giveUp();
      if (running.signal.aborted) {
        this.#show('unknown');
        this.#bar.say(running.signal.reason === RESET ? '' : words.stopped);
        return;
      }
      const why = error instanceof Error ? error.message : String(error);
      this.#show('failed');
      this.#bar.say(words.cannot(why), true);
      this.dispatchEvent(new CustomEvent('error', { detail: error }));
    } finally {
      this.#running = null;
      this.#label();
    }
  }

  /** With what it depends on, once for each shell. @param isMain whether it is the one that was asked for, and prints */
  async #run(kubetab: Kubetab, signal: AbortSignal, isMain: boolean): Promise<Result> {
    const words = this.#words;
    const shell = shellOf(kubetab, this.#shell);
    // Before the others: two may depend on each other.
    shell.ran.add(this);
    try {
      for (const id of listOf(this, 'depends-on')) {
        const other = document.getElementById(id);
        if (!(other instanceof Snippet)) throw new Error(words.missing(`#${id}`));
        const hasRun = shellOf(kubetab, other.#shell).ran.has(other);
        if (!hasRun) await other.#run(kubetab, signal, false);
      }
      const command = await commandOf(this, this.#block, words);
      signal.throwIfAborted();
      if (isMain) this.#beginOutput();
      if (isMain && shell.busy > 0) this.#bar.say(words.waiting);
      return await inTurn(shell, signal, () => this.#print(shell, command, signal, isMain));
    } catch (error) {
      shell.ran.delete(this);
      throw error;
    }
  }

  async #print(
    shell: Shell,
    command: string,
    signal: AbortSignal,
    isMain: boolean,
  ): Promise<Result> {
    if (isMain) this.#bar.say(this.getAttribute('status-running') ?? this.#words.running);
    const began = performance.now();
    const { stdout, stderr, exitCode } = await shell.session.run(command, {
      signal,
      ...(isMain && { onOutput: (piece) => this.#output.print(piece) }),
    });
    const duration = Math.round(performance.now() - began);
    return { ok: exitCode === 0, duration, stdout, stderr, exitCode };
  }

  /** The name of its shell: its own, unless it says so, or has that of what it depends on. */
  get #shell(): string {
    const seen = new Set<Snippet>();
    for (let at: Snippet = this; !seen.has(at); ) {
      const name = at.getAttribute('session') ?? engine.settings.session;
      if (name) return name;
      const first = document.getElementById(listOf(at, 'depends-on')[0] ?? '');
      if (!(first instanceof Snippet)) return at.#name;
      seen.add(at);
      at = first;
    }
    return this.#name;
  }

  #tell(result: Result): void {
    this.#show(result.ok ? 'succeded' : 'failed');
    this.#output.isBad = !result.ok;
    const seconds = (result.duration / 1000).toFixed(1);
    if (result.ok) {
      const done = this.getAttribute('status-done')?.replace('$DURATION', String(result.duration));
      this.#bar.say(done ?? this.#words.done(seconds));
    } else {
      this.#bar.say(
        this.getAttribute('status-failed') ?? this.#words.failed(result.exitCode),
        true,
      );
    }
    this.dispatchEvent(new CustomEvent('result', { detail: result }));
  }

  #draw(block: Block): void {
    const words = wordsOf(this);
    const expected = expectedOf(this);
    const name = nameOf(block.element);
    if (name && block.kind === 'yaml') keepSample(name, block);
    this.#block = block;
    this.#words = words;
    this.#bar = new Bar(words, engine.settings.site, {
      run: () => void this.execute(),
      edit: () => this.#edit(!block.isEdited),
      reset: () => this.#restore(),
      address: () => this.#address(),
    });
    this.#bar.edit.hidden = this.getAttribute('editor') === 'off';
    const room = roomFor(this);
    this.#output = new Output(words, room, expected);
    const below = make('div', 'below');
    if (!expected && !this.#isQuiet) below.append(room);
    if (this.hasAttribute('picture')) {
      this.#picture = new Picture(words);
      below.append(this.#picture.element);
    }
    const root = this.shadowRoot ?? styled(this.attachShadow({ mode: 'open' }));
    root.replaceChildren(make('slot'), this.#bar.element, below);
    this.#label();
    onGround(() => this.#paint());
    block.element.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        void this.execute();
      } else if (event.key === 'Escape' && block.isEdited) {
        this.#edit(false);
        this.#bar.edit.focus();
      }
    });
    block.element.addEventListener('input', () => this.#changed());
  }

  #label(): void {
    const words = this.#words;
    const word = this.#running ? words.stop : this.#block.kind === 'yaml' ? words.apply : words.run;
    this.#bar.label(word, this.#running !== null);
  }

  #paint(): void {
    for (const element of [this, this.#output.cover]) {
      element?.toggleAttribute('data-dark', isDark(element.parentElement ?? element));
    }
  }

  #show(state: string): void {
    this.setAttribute('state', state);
    this.#label();
  }

  #edit(on: boolean): void {
    this.#block.edit(on);
    this.#bar.edit.setAttribute('aria-pressed', String(on));
  }

  #changed(): void {
    this.#bar.reset.hidden = this.code === this.#block.text && !this.#hasRun;
  }

  /** As the page has it: the text, and what it expects. The shell ends. */
  #restore(): void {
    this.#running?.abort(RESET);
    endShell(this.#shell);
    if (this.#block.isEdited) this.#edit(false);
    this.#block.restore();
    this.#hasRun = false;
    this.#output.showWhole(false);
    this.#output.close();
    this.#bar.say('');
    this.#show('unknown');
    this.#changed();
    this.#bar.run.focus();
  }

  #beginOutput(): void {
    this.#hasRun = true;
    this.#changed();
    this.#output.clear();
    if (this.#isQuiet) return;
    this.#output.open();
    this.#paint();
  }

  /** Whether nothing that it prints is shown. */
  get #isQuiet(): boolean {
    return this.getAttribute('output-mode') === 'hidden';
  }

  /** Of the workbench with this text, and the files that it names. */
  async #address(): Promise<string> {
    const { code, element, kind } = this.#block;
    const isYaml = kind === 'yaml';
    const path = isYaml ? nameOf(element) || 'manifest.yaml' : 'lines.sh';
    const text = isYaml ? code : linesOf(code);
    const files = isYaml ? [] : samplesIn(code).map(([path, text]) => ({ path, text }));
    const { pack } = await engine.client();
    const packed = await pack([{ path, text: `${text}\n` }, ...files]);
    const address = new URL(engine.settings.site);
    address.hash = `shared/${packed}`;
    return address.href;
  }
}
