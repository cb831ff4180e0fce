import { signal } from '@preact/signals';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { linesOf } from '../../src/page/terminal/ahead';
import type { Screen } from '../../src/page/terminal/screen';

// What a terminal shows while there is no shell behind it, and what the shell is given then.

const engine = vi.hoisted(() => ({
  request: (_path: string, _init?: RequestInit) => new Response(),
}));
const engineState = signal<{ phase: string }>({ phase: 'ready' });

vi.mock('../../src/page/engine/here', () => ({
  clusterHere: 'own',
  scope: new URL('https://site.example/'),
}));
vi.mock('../../src/page/engine/cluster', () => ({
  engineState,
  get ready() {
    return { value: engineState.value.phase === 'ready' };
  },
  untilReady: () =>
    new Promise<void>((resolve) => {
      engineState.subscribe(({ phase }) => phase === 'ready' && resolve());
    }),
  directApi: () => ({
    request: async (path: string, init?: RequestInit) => engine.request(path, init),
  }),
}));
vi.mock('../../src/page/engine/ask', () => ({
  refused: (_status: number, text: string) => new Error(JSON.parse(text).message),
}));
vi.mock('../../src/page/terminal/words', () => ({
  words: { waiting: 'WAIT', noEngine: 'NO ENGINE', left: 'LEFT', lost: 'LOST' },
}));

/** As much of a terminal as the page itself writes to. */
class Paper implements Screen {
  readonly size = { columns: 40, rows: 10 };
  rows = [''];
  #row = 0;
  #column = 0;

  write(text: Uint8Array | string): void {
    const all = typeof text === 'string' ? text : new TextDecoder().decode(text);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what terminals are told with
    for (const [part, , count, verb] of all.matchAll(/\x1b(\[(\d*)([A-Za-z])|c)|./gs)) {
      if (part === '\x1bc') [this.rows, this.#row, this.#column] = [[''], 0, 0];
      else if (verb === 'A') this.#row = Math.max(0, this.#row - Number(count));
      else if (verb === 'D') this.#column -= Number(count);
      else if (verb === 'J') {
        this.rows.length = this.#row + 1;
        this.rows[this.#row] = this.row.slice(0, this.#column);
      } else if (verb !== undefined) continue;
      else if (part === '\r') this.#column = 0;
      else if (part === '\n') this.#feed();
      else {
        if (this.#column === this.size.columns) {
          this.#feed();
          this.#column = 0;
        }
        this.rows[this.#row] = this.row.padEnd(this.#column).slice(0, this.#column) + part;
        this.#column++;
      }
    }
  }
  get row(): string {
    return this.rows[this.#row] ?? '';
  }
  #feed(): void {
    this.#row++;
    this.rows[this.#row] ??= '';
  }

  say = (text: string) => this.write(`\r\n${text}\r\n`);
  reset = () => this.write('\x1bc');
  type = () => undefined;
  focus = () => undefined;
  restyle = () => undefined;
  rename = () => undefined;
  destroy = () => undefined;

  get text(): string {
    return this.rows
      .map((row) => row.trimEnd())
      .join('\n')
      .trim();
  }
}

/** A shell that prints its prompt, and what it is given. */
class Shell {
  opened = 0;
  input = '';
  /** Until it is null, no shell is opened. */
  refusal: string | null = null;
  /** Called when one has been opened. */
  onOpened: () => void = () => undefined;
  /** What readers have asked to begin with, '' for what nobody has taken yet. */
  readonly asked: string[] = [];
  #printed = '';
  #output!: ReadableStreamDefaultController<Uint8Array>;

  readonly request = (path: string, init?: RequestInit): Response => {
    if (path === '/kubetab/terminals') {
      if (this.refusal !== null) {
        return Response.json({ kind: 'Status', message: this.refusal }, { status: 503 });
      }
      const id = `t${++this.opened}`;
      this.onOpened();
      return Response.json({ id });
    }
    if (this.refusal !== null) {
      return Response.json({ kind: 'Status', message: this.refusal }, { status: 503 });
    }
    const output = /\/output(?:\?from=(.*))?$/.exec(path);
    if (output) {
      const from = output[1] === undefined ? this.#printed.length : Number(output[1]);
      this.asked.push(output[1] ?? '');
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.#output = controller;
          const again = this.#printed.slice(from);
          if (again !== '') controller.enqueue(new TextEncoder().encode(again));
          if (this.#printed === '') this.print('~ $ ');
        },
      });
      return new Response(body, { headers: { 'Kubetab-Position': String(from) } });
    }
    if (path.endsWith('/input')) {
      this.input += init?.body;
      this.print(String(init?.body).replaceAll('\r', '\r\n~ $ '));
    }
    return new Response();
  };
  print(text: string): void {
    this.#printed += text;
    this.#output.enqueue(new TextEncoder().encode(text));
  }
  /** Prints what the page is not shown any more. */
  printUnseen(text: string): void {
    this.#printed += text;
  }
  end(): void {
    this.#printed = '';
    this.#output.error(new Error('the worker is gone'));
  }
}

let paper: Paper;
let shell: Shell;
let stored: Map<string, string>;

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  paper = new Paper();
  shell = new Shell();
  engine.request = shell.request;
  engineState.value = { phase: 'ready' };
  stored = new Map([['kubetab.terminal.history', '["true"]']]);
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  };
  vi.stubGlobal('window', { localStorage: storage, sessionStorage: storage });
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('removeEventListener', () => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function open() {
  const { Session } = await import('../../src/page/terminal/shell');
  const session = new Session(paper);
  await vi.advanceTimersByTimeAsync(10);
  return session;
}

test('what was typed ahead is shown once', async () => {
  engineState.value = { phase: 'starting' };
  const session = await open();
  session.type('echo a\recho b');
  expect(paper.text).toBe('WAIT\n$ echo a\n$ echo b');
  engineState.value = { phase: 'ready' };
  await vi.advanceTimersByTimeAsync(10);
  expect(shell.input).toBe('echo a\recho b');
  expect(paper.text).toBe('~ $ echo a\n~ $ echo b');
});

test('and after an engine that was lost, also where it takes several rows', async () => {
  const session = await open();
  shell.end();
  engineState.value = { phase: 'starting' };
  await vi.advanceTimersByTimeAsync(10);
  const long = `echo ${'x'.repeat(50)}`;
  session.type(`${long}\recho b`);
  expect(paper.text).toBe(`~ $\nLOST\n$ echo ${'x'.repeat(33)}\n${'x'.repeat(17)}\n$ echo b`);
  await vi.advanceTimersByTimeAsync(1000);
  engineState.value = { phase: 'ready' };
  await vi.advanceTimersByTimeAsync(10);
  expect(shell.input).toBe(`${long}\recho b`);
  expect(paper.text).toBe(
    `~ $\nLOST\nWAIT\n~ $ echo ${'x'.repeat(31)}\n${'x'.repeat(19)}\n~ $ echo b`,
  );
});

test('what was printed while the page was reloaded is there afterwards, and once', async () => {
  const session = await open();
  session.type('echo a\r');
  await vi.advanceTimersByTimeAsync(10);
  session.end(); // keeps what a reload keeps
  shell.printUnseen('a\r\n~ $ ');
  vi.resetModules();
  paper = new Paper();
  await open();
  expect(paper.text).toBe('~ $ echo a\n~ $ a\n~ $');
  expect(shell.asked).toEqual(['0', '16']);
  // A page that was killed has kept nothing of that visit.
  vi.resetModules();
  paper = new Paper();
  await open();
  expect(shell.asked.at(-1)).toBe('');
  expect(paper.text).toBe('~ $ echo a\n~ $');
});

test('a reason to open no shell is said once, in words, and what was typed stays in sight', async () => {
  shell.refusal = 'There is no engine.';
  const session = await open();
  session.type('echo a');
  await vi.advanceTimersByTimeAsync(5000);
  expect(paper.text).toBe('There is no engine.\n$ echo a');
  shell.refusal = 'The engine is full.';
  await vi.advanceTimersByTimeAsync(5000);
  expect(paper.text).toBe('There is no engine.\n\nThe engine is full.\n$ echo a');
  shell.refusal = null;
  await vi.advanceTimersByTimeAsync(1000);
  expect(shell.input).toBe('echo a');
  expect(paper.text).toBe('There is no engine.\n\nThe engine is full.\n~ $ echo a');
});

test('a terminal of an engine that was restarted before it was heard is opened in the next', async () => {
  shell.onOpened = () => {
    shell.refusal = 'The engine is starting.';
  };
  const session = await open();
  session.type('echo a\r');
  expect(paper.text).toBe('The engine is starting.\n$ echo a\n$');
  shell.onOpened = () => undefined;
  shell.refusal = null;
  await vi.advanceTimersByTimeAsync(1000);
  expect(shell.opened).toBe(2);
  expect(shell.input).toBe('echo a\r');
  expect(paper.text).toBe('The engine is starting.\n~ $ echo a\n~ $');
});

test('a newcomer is offered a first command, which Enter takes', async () => {
  stored.clear();
  engineState.value = { phase: 'starting' };
  const session = await open();
  expect(paper.text).toBe('WAIT\n$ kubectl get namespaces');
  session.type('\r');
  expect(paper.text).toBe('WAIT\n$ kubectl get namespaces\n$');
  engineState.value = { phase: 'ready' };
  await vi.advanceTimersByTimeAsync(10);
  expect(shell.input).toBe('kubectl get namespaces\r');
});

test('keys that print nothing are not drawn', () => {
  expect(linesOf('ab\x7f\x7f\x7fc\x1b[A\x1bOP\x03d')).toEqual(['cd']);
  expect(linesOf('wrong\x15right\r')).toEqual(['right', '']);
  expect(linesOf('世界\x7f')).toEqual(['世']);
});
