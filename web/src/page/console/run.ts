import { signal } from '@preact/signals';
import { piecesOf } from '../../client/pieces';
import { ask } from '../engine/ask';
import { EngineDead, ready, refreshStats, untilReady } from '../engine/cluster';
import { JsonFrames } from '../engine/frames';
import { spoken } from '../frame/spoken';
import { bytes as size } from '../parts/format';
import { isWatch } from '../parts/verbs';
import { type Draft, draft, takesBody } from './draft';
import { addToHistory } from './history';
import { WatchLog, type WatchView } from './watch-log';
import { words } from './words';

/** What went wrong, in three answers: what happened, why, what to do next. */
export interface Trouble {
  readonly what: string;
  readonly why: string;
  readonly next: string;
}

export interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly contentType: string;
  /** Milliseconds from sending to the head. */
  readonly headMs: number;
}

/** One request on its way, from the key press to the last byte. A new object for every change. */
export interface Run {
  readonly request: Draft;
  readonly phase: 'queued' | 'sent' | 'receiving' | 'done' | 'stopped' | 'failed';
  readonly answer: Answer | null;
  readonly bytes: number;
  readonly totalMs: number;
  /** The body, once it is complete; null for a watch and for what is not text. */
  readonly text: string | null;
  readonly watch: WatchView | null;
  readonly trouble: Trouble | null;
}

export const run = signal<Run | null>(null);

let controller: AbortController | null = null;

export function isUnderWay({ phase }: Run): boolean {
  return phase === 'queued' || phase === 'sent' || phase === 'receiving';
}

/** Ends the run under way, wherever it is: the request is then cancelled in the engine too. */
export function stop(): void {
  controller?.abort(new DOMException(words.response.stopped, 'AbortError'));
}

/** Sends the draft. What was under way is stopped first: the console shows one request at a time. */
export async function send(): Promise<void> {
  stop();
  const mine = new AbortController();
  controller = mine;
  const request = draft.value;
  const { signal } = mine;
  let state: Run = {
    request,
    phase: 'queued',
    answer: null,
    bytes: 0,
    totalMs: 0,
    text: null,
    watch: null,
    trouble: null,
  };
  const show = (change: Partial<Run>) => {
    state = { ...state, ...change };
    if (controller === mine) run.value = state;
  };
  let began = performance.now();
  const elapsed = () => performance.now() - began;
  try {
    show({ phase: ready.value ? 'sent' : 'queued' });
    if (!ready.value) spoken.value = words.response.queued;
    await untilReady(signal);
    began = performance.now();
    show({ phase: 'sent' });
    const response = await ask('console', request.path, {
      method: request.method,
      headers: request.headers
        .filter(({ name }) => name.trim() !== '')
        .map(({ name, value }): [string, string] => [name.trim(), value]),
      body: takesBody(request.method) && request.body !== '' ? request.body : null,
      signal,
    });
    show({ phase: 'receiving', answer: answerOf(response, elapsed()) });
    if (isStreamOfEvents(request, response)) await readEvents(response, show, elapsed);
    else await readBody(response, show, elapsed);
    show({ phase: 'done', totalMs: elapsed() });
  } catch (error) {
    if (signal.aborted) show({ phase: 'stopped', totalMs: elapsed() });
    else show({ phase: 'failed', totalMs: elapsed(), trouble: troubleOf(error, state) });
  }
  speak(state);
  if (state.answer || state.trouble) {
    addToHistory({ request, at: Date.now(), status: state.answer?.status ?? 0, ms: state.totalMs });
  }
  void refreshStats();
}

function answerOf(response: Response, headMs: number): Answer {
  return {
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers],
    contentType: response.headers.get('content-type') ?? '',
    headMs,
  };
}

function isStreamOfEvents({ method, path }: Draft, response: Response): boolean {
  const type = response.headers.get('content-type') ?? '';
  const query = path.split('?', 2)[1] ?? '';
  const asked = isWatch(query) || /^\/apis?\/([^/]+\/)?[^/]+\/watch\//.test(path);
  return method === 'GET' && response.ok && asked && type.includes('json');
}

async function readEvents(
  response: Response,
  show: (change: Partial<Run>) => void,
  elapsed: () => number,
): Promise<void> {
  const log = new WatchLog((watch) => show({ watch }));
  show({ watch: { events: [], counts: {}, total: 0 } });
  spoken.value = words.watch.none;
  const frames = new JsonFrames();
  const decoder = new TextDecoder();
  let received = 0;
  try {
    for await (const piece of piecesOf(response.body)) {
      received += piece.byteLength;
      show({ bytes: received, totalMs: elapsed() });
      for (const frame of frames.add(decoder.decode(piece, { stream: true }))) log.add(frame);
    }
  } finally {
    if (frames.rest) log.add(frames.rest);
    log.close();
  }
}

async function readBody(
  response: Response,
  show: (change: Partial<Run>) => void,
  elapsed: () => number,
): Promise<void> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let received = 0;
  let shownAt = 0;
  const type = response.headers.get('content-type') ?? '';
  const finish = async () => {
    const isText = type === '' || /json|yaml|text|xml|openmetrics/.test(type);
    const text = isText && received > 0 ? await new Blob(pieces).text() : null;
    show({ bytes: received, totalMs: elapsed(), text });
  };
  try {
    for await (const piece of piecesOf(response.body)) {
      pieces.push(piece);
      received += piece.byteLength;
      if (elapsed() - shownAt < 100) continue;
      shownAt = elapsed();
      show({ bytes: received, totalMs: shownAt });
    }
  } finally {
    // What arrived before a break is shown too.
    await finish();
  }
}

function troubleOf(error: unknown, state: Run): Trouble {
  const why = error instanceof Error ? error.message : String(error);
  if (error instanceof EngineDead) {
    return { what: words.failed.what, why: error.message, next: words.failed.engineNext };
  }
  if (state.answer) return { what: words.failed.broken, why, next: words.failed.brokenNext };
  if (refusedByBrowser(state.request)) {
    return { what: words.failed.invalidWhat, why, next: words.failed.invalid };
  }
  return { what: words.failed.what, why, next: words.failed.network };
}

/** The Request constructor throws the same TypeError as a broken network; asking it again tells them apart. */
function refusedByBrowser({ method, headers }: Draft): boolean {
  try {
    const named = headers.filter(({ name }) => name.trim() !== '');
    new Request('/', {
      method,
      headers: named.map(({ name, value }): [string, string] => [name.trim(), value]),
    });
    return false;
  } catch {
    return true;
  }
}

function speak({ phase, answer, trouble, bytes, watch }: Run): void {
  if (trouble) spoken.value = `${trouble.what} ${trouble.why}`;
  else if (phase === 'stopped') spoken.value = words.response.stopped;
  else if (answer && watch) spoken.value = words.watch.endedAfter(watch.total);
  else if (answer) {
    spoken.value = words.response.done(`${answer.status} ${answer.statusText}`, size(bytes));
  }
}
