import { type ApiRequestInit, throughEnginePort } from '../client';
import { startAlone } from '../client/alone';
import { EngineLink } from '../client/link';
import { uniqueName } from '../client/unique';
import type { Beginning, EngineSettings, EngineState, Run } from '../protocol';
import { follow, type RequestRecord } from './follow';
import { connect, type Frame, hiddenFrame, showIn, untilThere } from './frames';
import {
  type CommandResult,
  type Commands,
  commands,
  type Piece,
  type RunOptions,
  type Session,
  type StreamOptions,
  session,
} from './run';

export type {
  ApiRequestInit,
  CommandResult,
  Commands,
  EngineSettings,
  EngineState,
  Piece,
  RequestRecord,
  RunOptions,
  Session,
  StreamOptions,
};

export interface StartOptions {
  /** The address of a site's embed.html, for a frame that nobody sees; or a frame with it that is part of the page. */
  readonly iframe?: string | URL | HTMLIFrameElement;
  /** The address of a site's engine.js, for an engine in a worker of this page. */
  readonly worker?: string | URL;
  /** A file that `save` has made, or its address: the cluster begins with what is in it. */
  readonly bundle?: BufferSource | Blob | string | URL;
  /** As the flags of those names of `kubetab serve`; those of the bundle where they are missing. */
  readonly settings?: EngineSettings;
  /** Called whenever there is something new to say of how the engine is, such as how much of it has arrived. */
  readonly onState?: (state: EngineState) => void;
  /** Gives the start up. */
  readonly signal?: AbortSignal;
}

/** What `on` tells of. */
export interface Events {
  /** A request to the API server: told when it begins, when it has become more, and with `done` at its end. */
  request: RequestRecord;
  /** A request that has changed something in the cluster, whoever sent it: a person, or a component of the cluster. */
  change: RequestRecord;
}

/** An API server in this page. Every command has a shell of its own; those of a `session` share one. */
export interface Kubetab extends Commands {
  /**
   * As `fetch`, for paths of the API such as `/api/v1/pods?watch=1`. The promise resolves when the head of the response
   * has arrived; bodies stream in both directions.
   *
   * @throws TypeError for what `new Request` refuses, and the signal's reason
   */
  fetch(path: string, init?: ApiRequestInit): Promise<Response>;
  /** The shell of a name, also for another client of the same engine; without a name one that nobody else has. */
  session(name?: string): Session;
  /** @returns takes the listener away again */
  on<E extends keyof Events>(event: E, listener: (value: Events[E]) => void): () => void;
  /** The cluster as a file. @throws Error in the words of the API server */
  save(): Promise<Blob>;
  /** Shows the cluster in a frame with `embed.html?engine=asked&panes=...`. @throws Error when that cannot be loaded */
  show(frame: HTMLIFrameElement): Promise<void>;
  readonly state: EngineState;
  /** Aborted when the engine is gone for good. */
  readonly closed: AbortSignal;
  /** Ends the engine, unless it is that of a frame of the page. */
  close(): void;
}

/**
 * Starts an API server, in a frame of a site that has Kubetab or in a worker of this page, and resolves when it is ready.
 *
 * @throws TypeError when not exactly one of `iframe` and `worker` is given
 * @throws Error with a sentence when it does not start, or not with the bundle or the settings, and the signal's reason
 */
export async function start(options: StartOptions): Promise<Kubetab> {
  const { iframe, worker, signal = new AbortController().signal } = options;
  if ((iframe === undefined) === (worker === undefined)) {
    throw new TypeError('Say where the engine shall be: either `iframe` or `worker`.');
  }
  signal.throwIfAborted();
  const beginning = await beginningOf(options);
  const { link, end } =
    iframe === undefined
      ? inWorker(new URL(worker ?? '', document.baseURI), beginning)
      : await inFrame(iframe, beginning, signal);
  try {
    const { notKept } = await untilReady(link, options.onState, signal);
    // It has begun, without the bundle.
    if (beginning?.bundle && notKept) throw new Error(notKept);
  } catch (error) {
    link.close();
    end();
    throw error;
  }
  return kubetab(link, end);
}

interface Place {
  readonly link: EngineLink;
  end(): void;
}

function inWorker(script: URL, beginning: Beginning | undefined): Place {
  const { port1, port2 } = new MessageChannel();
  const link = new EngineLink(port2, 'page', false);
  const worker = startAlone(script, beginning ?? {});
  worker.onerror = (event) => {
    if (!link.state) link.lose(event.message || `${script.href} could not be loaded.`);
  };
  worker.postMessage(port1, [port1]);
  return { link, end: () => worker.terminate() };
}

async function inFrame(
  iframe: string | URL | HTMLIFrameElement,
  beginning: Beginning | undefined,
  signal: AbortSignal,
): Promise<Place> {
  const isOurs = !(iframe instanceof HTMLIFrameElement);
  const frame = isOurs ? hiddenFrame(asked(iframe)) : existing(iframe);
  const end = () => {
    if (isOurs) frame.element.remove();
  };
  try {
    await untilThere(frame, signal);
  } catch (error) {
    end();
    throw error;
  }
  const { port1, port2 } = new MessageChannel();
  const link = new EngineLink(port2, 'page', false);
  connect(frame, port1, beginning);
  return { link, end };
}

/** The address for an engine alone. */
function asked(address: string | URL): URL {
  const url = new URL(address, document.baseURI);
  url.searchParams.set('engine', 'asked');
  url.searchParams.set('panes', 'none');
  return url;
}

function existing(element: HTMLIFrameElement): Frame {
  return { element, address: new URL(element.src) };
}

async function beginningOf({ bundle, settings }: StartOptions): Promise<Beginning | undefined> {
  if (bundle === undefined && settings === undefined) return undefined;
  return {
    ...(settings && { settings }),
    ...(bundle !== undefined && { bundle: await bytesOf(bundle) }),
  };
}

async function bytesOf(bundle: NonNullable<StartOptions['bundle']>) {
  if (bundle instanceof Blob) return new Uint8Array(await bundle.arrayBuffer());
  if (typeof bundle !== 'string' && !(bundle instanceof URL)) {
    return new Uint8Array(await new Blob([bundle]).arrayBuffer());
  }
  const response = await fetch(bundle);
  if (!response.ok) throw new Error(`The server answered ${response.status} to ${bundle}.`);
  return new Uint8Array(await response.arrayBuffer());
}

function untilReady(
  link: EngineLink,
  onState: StartOptions['onState'],
  signal: AbortSignal,
): Promise<Run> {
  return new Promise((resolve, reject) => {
    link.onState = (state) => {
      onState?.(state);
      if (state.phase === 'ready') resolve(state.run);
      else if (state.phase === 'dead') reject(new Error(`${state.what} ${state.why}`));
    };
    link.lost.addEventListener('abort', () => reject(link.lost.reason), { once: true });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (link.lost.aborted) reject(link.lost.reason);
    if (signal.aborted) reject(signal.reason);
  });
}

/** Paths are of the API alone; what stands before them is never asked for. */
const NOWHERE = new URL('https://kubetab.invalid/');

function kubetab(link: EngineLink, end: () => void): Kubetab {
  const api = throughEnginePort(link, NOWHERE);
  const { on } = follow(api, link.lost);
  return {
    ...commands(api),
    fetch: (path, init) => api.request(path, init),
    session: (name = uniqueName()) => session(api, name),
    on,
    async save() {
      const answer = await api.request('/kubetab/bundle');
      if (!answer.ok) throw new Error(await answer.text());
      return answer.blob();
    },
    async show(element) {
      const frame = existing(element);
      await untilThere(frame, link.lost);
      showIn(frame, link.introduce());
    },
    get state() {
      return link.state as EngineState;
    },
    closed: link.lost,
    close() {
      link.close();
      end();
    },
  };
}
