/**
 * What a script of the learner's finds in its worker. The script's own text follows as a module that imports this one
 * first (page/script/start.ts), so that the content security policy needs no 'unsafe-eval'.
 *
 *   page ──messages──▶ prelude ◀──imports── script
 *                         └── control port ──▶ engine worker
 *
 * `fetch` goes straight to the engine of the page's cluster, whatever the service worker does. It has a link of its own:
 * when the page ends the worker, the engine hears that the party has died and ends its watches.
 */
import { EngineLink } from '../client/link';
import type { HeaderPair } from '../protocol';
import { format, inspect } from './inspect';
import type { FromScript, OutputLine, ToScript } from './messages';
import { Output } from './output';
import { Pending } from './pending';
import { lineIn, ownStack, pathOf } from './where';

const own = { fetch: self.fetch.bind(self), later: self.setTimeout.bind(self) };
const say = (message: FromScript) => self.postMessage(message);
const output = new Output((lines, left) => say({ type: 'output', lines, left }), own.later);
const pending = new Pending(() => end(false));
let ended = false;

function end(failed: boolean): void {
  if (ended) return;
  ended = true;
  output.flush();
  say({ type: 'ended', failed });
}

/* ---------------------------------------------------------------- requests */

let identity: readonly HeaderPair[] = [];
let begin: (way: { link: EngineLink; scope: URL }) => void;
const begun = new Promise<{ link: EngineLink; scope: URL }>((resolve) => {
  begin = resolve;
});

self.addEventListener('message', (event: MessageEvent<ToScript>) => {
  event.stopImmediatePropagation();
  const { data } = event;
  if (data.type === 'identity') identity = data.headers;
  else begin({ link: new EngineLink(data.port, 'page'), scope: new URL(data.scope) });
});

/** Whoever sends credentials of its own is not who the page acts as. */
const CREDENTIALS = ['authorization', 'impersonate-user'];

const streams = { opened: () => pending.began(), over: () => pending.over() };

async function ask(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const { link, scope } = await begun;
  await link.welcomed();
  const path = pathOf(input instanceof Request ? input.url : String(input), scope);
  if (path === null) return own.fetch(input, init);
  const request = new Request(
    input instanceof Request ? input : new URL(scope.pathname.slice(0, -1) + path, scope),
    init,
  );
  const { headers } = request;
  headers.set('Kubetab-Client', 'script');
  if (!CREDENTIALS.some((name) => headers.has(name))) {
    for (const [name, value] of identity) headers.append(name, value);
  }
  return link.request(request, path, streams);
}

self.fetch = (input, init) => pending.of(ask(input, init));

/* ---------------------------------------------------------------- what it prints */

const LEVELS: Readonly<Record<string, OutputLine['level']>> = {
  log: 'log',
  info: 'log',
  debug: 'log',
  dir: 'log',
  table: 'log',
  warn: 'warn',
  error: 'error',
  trace: 'error',
};

for (const [name, level] of Object.entries(LEVELS)) {
  // The browser's own console is not told: it passes every line through the page's thread.
  console[name as 'log'] = (...values: unknown[]) => {
    output.add(level, told(format(name === 'dir' ? values.slice(0, 1) : values)));
  };
}
console.assert = (holds?: unknown, ...values: unknown[]) => {
  if (!holds) console.error('Assertion failed', ...values);
};

function told(text: string): string {
  return ownStack(text, self.location.href, self.name);
}

/** As in Node, what nobody catches is the end. */
function uncaught(error: unknown, line: number): void {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const text = error instanceof Error ? inspect(error) : `Uncaught ${inspect(error)}`;
  output.add('error', told(text), line || lineIn(stack, self.location.href));
  end(true);
}

self.addEventListener('error', (event) => {
  event.preventDefault();
  uncaught(event.error ?? event.message, event.filename === self.location.href ? event.lineno : 0);
});
self.addEventListener('unhandledrejection', (event) => {
  event.preventDefault();
  uncaught(event.reason, 0);
});

/* ---------------------------------------------------------------- its end */

pending.watch();

/** The last line of a script, which page/script/start.ts adds. */
Object.assign(self, { kubetabScriptEnd: () => pending.over() });
