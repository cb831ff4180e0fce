import { batch, effect, signal } from '@preact/signals';
import { suffixOf } from '../../client/cluster-names';
import { directApi, engineState, untilReady } from '../engine/cluster';
import { typedAhead } from '../engine/first-moments';
import { clusterHere } from '../engine/here';
import { nameHere } from '../engine/name-here';
import { tabStorage } from '../engine/storage';
import { takeStrayKeys } from '../frame/stray-keys';
import { Ahead } from './ahead';
import { Connection } from './connection';
import { shellHeld, untilLetGo } from './held';
import { keepLine, pastLines } from './history';
import type { ShellMessage } from './messages';
import { ReadingLine } from './reading-line';
import type { Screen } from './screen';
import { words } from './words';

/** A file that a command wants edited (kubectl edit, vi): answer with `finishEdit`. */
export interface PendingEdit {
  readonly token: string;
  readonly path: string;
}

/** The edits that commands wait for, oldest first. */
export const pendingEdits = signal<readonly PendingEdit[]>([]);

/** Tells the command that waits whether the file at its path has been saved or is to be left as it was. */
export async function finishEdit(token: string, saved: boolean): Promise<void> {
  pendingEdits.value = pendingEdits.value.filter((edit) => edit.token !== token);
  const response = await directApi()?.request(`/kubetab/edits/${encodeURIComponent(token)}`, {
    method: 'POST',
    body: JSON.stringify({ saved }),
  });
  await response?.body?.cancel();
}

/** Types into the terminal as if by hand; a line that ends with `\r` is run. */
export function typeIntoTerminal(keys: string): void {
  if (session) session.type(keys);
  else typedBefore += keys;
}

/** A line that was entered, and when, in ms since 1970. */
export interface Entered {
  readonly line: string;
  readonly at: number;
}

/** The last line that was entered in this tab. */
export const entered = signal<Entered | null>(null);
/** Whether a line is being read: no command is in the foreground. */
export const prompting = signal(false);

/**
 * Runs a command line as if it were typed, and resolves when the prompt is there again. A foreground command is
 * ended first, as by ^C. A terminal that does not exist yet runs the line when it does.
 */
export async function runInTerminal(line: string): Promise<void> {
  if (session?.isConnected && !prompting.value) {
    session.type(INTERRUPT);
    await until(() => prompting.value);
  }
  const before = lines.value;
  typeIntoTerminal(`${CLEAR_LINE}${line.replaceAll('\n', '\r')}\r`);
  await until(() => lines.value > before && prompting.value);
}

const CLEAR_LINE = '\x15';
const INTERRUPT = '\x03';
/** How many lines were entered. */
const lines = signal(0);

function until(holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (!holds()) return;
      queueMicrotask(() => stop());
      resolve();
    });
  });
}

/** Text typed for a terminal that is not there yet. A newcomer finds a first command. */
let typedBefore = '';
let session: Session | null = null;

const ID = nameHere(`kubetab.terminal${suffixOf(clusterHere)}`);
const SCREEN = nameHere(`kubetab.terminal.screen${suffixOf(clusterHere)}`);
/** How much the terminal had printed when SCREEN was kept, in bytes. */
const POSITION = nameHere(`kubetab.terminal.position${suffixOf(clusterHere)}`);
/** Between two tries to reach an engine, in ms. */
const PAUSE = 1000;
/** How much of what was printed is shown again after a reload. */
const MOST_SHOWN = 100_000;

/** One screen with whatever shell is behind it: none while the engine starts, another one after a restart. */
export class Session {
  readonly #screen: Screen;
  readonly #gone = new AbortController();
  #connection: Connection | null = null;
  readonly #ahead: Ahead;
  /** How many lines that were typed ahead the shell has yet to read. */
  #unread = 0;
  /** Why the engine has refused a shell, as it was last said. */
  #refusal = '';
  #shown = '';
  readonly #reading = new ReadingLine();
  readonly #decoder = new TextDecoder();

  constructor(screen: Screen) {
    this.#screen = screen;
    this.#ahead = new Ahead(screen);
    takeStrayKeys(typeIntoTerminal); // those that wait are typed before
    session = this;
    if (typedBefore === '' && pastLines().length === 0) {
      this.#ahead.propose('kubectl get namespaces');
    }
    void this.#connect(true);
    addEventListener('pagehide', this.#keep);
  }

  get isConnected(): boolean {
    return this.#connection !== null;
  }

  /** What was typed, on this keyboard or by the page. */
  type(keys: string): void {
    if (this.#connection) {
      this.#connection.type(keys);
      return;
    }
    this.#ahead.type(keys);
    typedAhead.value = this.#ahead.hasLine;
  }

  resize(): void {
    this.#connection?.resize(this.#screen.size);
  }

  message(message: ShellMessage): void {
    switch (message.kind) {
      case 'history':
        keepLine(message.line);
        entered.value = { line: message.line, at: Date.now() };
        return;
      case 'edit':
        pendingEdits.value = [...pendingEdits.value, message];
        return;
      case 'script':
        void import('../script/for-terminal').then(({ runForTerminal }) =>
          runForTerminal(message.token),
        );
        return;
      case 'download':
        void import('../elsewhere/for-terminal').then(({ downloadForTerminal }) =>
          downloadForTerminal(message.token),
        );
        return;
      case 'over':
        pendingEdits.value = pendingEdits.value.filter(({ token }) => token !== message.token);
        return;
      default:
        message satisfies never;
    }
  }

  end(): void {
    this.#keep();
    removeEventListener('pagehide', this.#keep);
    this.#gone.abort();
    this.#connection?.leave();
    typedAhead.value = false;
    if (session === this) session = null;
  }

  async #connect(isFirst: boolean): Promise<void> {
    if (engineState.value?.phase !== 'ready' || shellHeld.value) {
      this.#ahead.erase();
      this.#screen.write(`${words.waiting}\r\n`);
    }
    this.#ahead.draw();
    this.type(typedBefore);
    typedBefore = '';
    try {
      await untilReady(this.#gone.signal);
      await untilLetGo();
      if (this.#gone.signal.aborted) return;
      const api = directApi();
      if (!api) throw new Error(words.noEngine);
      const events = {
        onOutput: (bytes: Uint8Array) => this.#show(bytes),
        onEnd: (why: 'left' | 'lost') => this.#ended(why),
      };
      const before = isFirst ? tabStorage.text(ID) : null;
      // The shell prints what it is given of the keys.
      this.#ahead.erase();
      if (isFirst) this.#screen.reset();
      if (before) {
        const shown = tabStorage.text(SCREEN) ?? '';
        const position = tabStorage.text(POSITION);
        // It is of one reload: a tab that is killed leaves none, and runs nothing twice.
        tabStorage.keepText(POSITION, null);
        const resumed = await Connection.resume(
          api,
          before,
          position === null ? null : Number(position),
          events,
        );
        if (resumed) {
          this.#shown = shown;
          this.#screen.write(shown, true);
          this.#reading.add(shown);
          prompting.value = this.#reading.isReading;
          this.#adopt(resumed);
          this.resize();
          return;
        }
      }
      this.#adopt(
        await Connection.open(api, this.#screen.size, pastLines(), this.#ahead.offer, events),
      );
    } catch (error) {
      if (this.#gone.signal.aborted) return;
      this.#refused(error instanceof Error ? error.message : String(error));
      this.#later();
    }
  }

  /** It is tried again and again: the same reason is said once, and what was typed stays in sight. */
  #refused(why: string): void {
    this.#ahead.erase();
    if (why !== this.#refusal) this.#screen.say(why);
    this.#refusal = why;
    this.#ahead.draw();
  }

  #adopt(connection: Connection): void {
    this.#connection = connection;
    this.#refusal = '';
    tabStorage.keepText(ID, connection.id);
    connection.begin();
    const keys = this.#ahead.take();
    this.#unread = keys.split('\r').length - 1;
    typedAhead.value = this.#unread > 0;
    if (keys !== '') connection.type(keys);
  }

  #show(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#shown = (this.#shown + text).slice(-MOST_SHOWN);
    this.#screen.write(bytes);
    const entries = this.#reading.add(text);
    batch(() => {
      lines.value += entries;
      prompting.value = this.#reading.isReading;
      this.#unread -= entries;
      if (this.#unread <= 0 && prompting.value) typedAhead.value = false;
    });
  }

  #ended(why: 'left' | 'lost'): void {
    this.#connection = null;
    prompting.value = typedAhead.value = false;
    this.#shown = '';
    tabStorage.keepText(ID, null);
    pendingEdits.value = [];
    this.#screen.say(why === 'left' ? words.left : words.lost);
    this.#ahead.draw();
    if (why === 'left') void this.#connect(false);
    else this.#later();
  }

  /** Connects again, to another engine where this one is dead. */
  #later(): void {
    const stop = effect(() => {
      if (engineState.value?.phase === 'dead') return;
      queueMicrotask(() => {
        stop();
        setTimeout(() => {
          if (!this.#gone.signal.aborted) void this.#connect(false);
        }, PAUSE);
      });
    });
  }

  readonly #keep = () => {
    tabStorage.keepText(SCREEN, this.#shown);
    tabStorage.keepText(POSITION, this.#connection ? String(this.#connection.position) : null);
  };
}
