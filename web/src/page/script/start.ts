import type { FromScript, OutputLine, ToScript } from '../../script/messages';
import prelude from '../../script/prelude.ts?worker&url';
import { identity, identityHeaders } from '../control/identity';
import { lendPort, scope, untilReady } from '../engine/cluster';
import { words } from './words';

/** What the caller is told of a script that it starts. */
export interface ScriptEvents {
  /** `left`: how many lines came too fast and are not among these. */
  onOutput(lines: readonly OutputLine[], left: number): void;
  /** It runs: its text has been given to a worker. */
  onBegin?(): void;
  /** It has ended by itself, or by an error that was printed before. Not called after `stop`. */
  onEnd(failed: boolean): void;
}

/**
 * Runs a script in a worker of its own, as soon as the API is ready. It is a module: `await` works at its top.
 *
 * The worker is made from a blob, which takes the page's content security policy over: the script can ask this site, and
 * nobody else.
 *
 * @param name of its file, which errors name
 * @returns stops it: it does nothing more, and its requests end
 */
export function startScript(name: string, text: string, events: ScriptEvents): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  const end = (failed: boolean) => {
    if (signal.aborted) return;
    stopped.abort();
    events.onEnd(failed);
  };
  const fail = (why: string, line = 0) => {
    if (signal.aborted) return;
    events.onOutput([{ level: 'error', text: why, line }], 0);
    end(true);
  };
  untilReady(signal).then(run, (error: unknown) => fail(wordsOf(error)));
  return () => stopped.abort();

  function run(): void {
    if (signal.aborted) return;
    const source = `import ${JSON.stringify(new URL(prelude, location.href).href)};${text}\n;kubetabScriptEnd();`;
    const worker = moduleOf(source, name, signal);
    const say = (message: ToScript, transfer: Transferable[] = []) =>
      worker.postMessage(message, transfer);
    worker.onmessage = ({ data }: MessageEvent<FromScript>) => {
      if (signal.aborted) return;
      if (data.type === 'output') events.onOutput(data.lines, data.left);
      else end(data.failed);
    };
    // What is thrown is told by the worker itself: this is a text that is no module.
    worker.onerror = (event) => {
      event.preventDefault();
      findFault(text, signal, fail);
    };
    const port = lendPort();
    say({ type: 'begin', port, scope: scope.href }, [port]);
    const leave = identity.subscribe((who) =>
      say({ type: 'identity', headers: identityHeaders(who) }),
    );
    signal.addEventListener('abort', leave);
    events.onBegin?.();
  }
}

/** A browser says where a text is no JavaScript only of classic scripts. This one throws before any of it runs. */
function findFault(
  text: string,
  signal: AbortSignal,
  tell: (why: string, line?: number) => void,
): void {
  const source = `'use strict';throw 0;async()=>{${text}\n}`;
  const worker = workerOf(source, signal, { type: 'classic' });
  worker.onerror = (event) => {
    event.preventDefault();
    const isSyntax = event instanceof ErrorEvent && event.message.includes('SyntaxError');
    if (isSyntax) tell(event.message.replace(/^Uncaught /, ''), event.lineno);
    else tell(words.noModule);
  };
}

function moduleOf(source: string, name: string, signal: AbortSignal): Worker {
  return workerOf(source, signal, { type: 'module', name });
}

/** A worker that ends with the signal. */
function workerOf(source: string, signal: AbortSignal, options: WorkerOptions): Worker {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const worker = new Worker(url, options);
  signal.addEventListener('abort', () => {
    worker.terminate();
    URL.revokeObjectURL(url);
  });
  return worker;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
