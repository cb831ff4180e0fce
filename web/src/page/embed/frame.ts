import { startAlone } from '../../client/alone';
import { EngineLink } from '../../client/link';
import { PROTOCOL } from '../../client/version';
import workerScript from '../../engine/worker.ts?worker&url';
import type { Beginning, FromFrame, Refused, ToFrame } from '../../protocol';

/** What a view of this frame hears of its engine. */
export interface FrameEvents {
  onLink(link: EngineLink): void;
  onBroken(why: string): void;
}

export interface Frame {
  /** Whether the page around it says how the engine is. */
  readonly isAsked: boolean;
  follow(events: FrameEvents): void;
  /** Starts an engine in place of one that is gone. */
  reopen(): void;
}

/**
 * Runs an engine for the page that frames this one: starts it at once, or when that page asks for it. The engine lives
 * in a worker of this frame and keeps nothing. To be called once.
 *
 * Of all messages to this window, only those of the framing page count, as long as that page has the origin of the
 * first message.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it is long because all that follows shares the state of one engine
export function openFrame(query: URLSearchParams): Frame {
  const waits = query.get('engine') === 'asked';
  let worker: Worker | null = null;
  let own: EngineLink | null = null;
  let broken = '';
  let framedBy: string | null = null;
  let events: FrameEvents | null = null;

  if (!waits) {
    firstOf(query).then(begin, (error: unknown) => fail(wordsOf(error)));
  }
  addEventListener('message', hear);
  announce();
  return {
    isAsked: waits,
    follow(next) {
      events = next;
      if (own) next.onLink(own);
      if (broken) next.onBroken(broken);
    },
    reopen: () => begin({}),
  };

  function hear({ data, source, origin, ports: [port] }: MessageEvent<ToFrame>): void {
    if (source !== parent || parent === window) return;
    if (framedBy !== null && framedBy !== origin) return;
    switch (data?.type) {
      case 'kubetab-ask':
        announce();
        return;
      case 'kubetab-connect':
        framedBy = origin;
        if (port) connect(port, data.protocol, data.beginning);
        return;
      case 'kubetab-show':
        framedBy = origin;
        if (!port) return;
        if (data.protocol !== PROTOCOL) refuse(port);
        else if (!waits || own) refuse(port, 'This frame has an engine already.');
        else show(port);
        return;
    }
  }

  function connect(port: MessagePort, protocol: number, beginning?: Beginning): void {
    if (protocol !== PROTOCOL) {
      refuse(port);
      return;
    }
    if (broken) {
      refuse(port, broken);
      return;
    }
    if (beginning && (own || !waits)) {
      refuse(
        port,
        'The engine of this frame has begun already, without what it was to begin with.',
      );
      return;
    }
    // One that begins by itself may still be fetching what it begins with.
    if (!own && waits) begin(beginning ?? {});
    admit(port);
  }

  function show(port: MessagePort): void {
    adopt(new EngineLink(port, 'page', false));
  }

  function begin(beginning: Beginning): void {
    worker?.terminate();
    worker = null;
    broken = '';
    try {
      worker = startAlone(new URL(workerScript, location.href), beginning);
    } catch (error) {
      fail(wordsOf(error));
      return;
    }
    const { port1, port2 } = new MessageChannel();
    const link = new EngineLink(port2, 'page', false);
    worker.onerror = (event) => {
      // A worker that came as far as to say what it does reports its errors itself.
      if (own !== link || link.state) return;
      fail(event.message || 'The script of the engine worker could not be loaded.');
    };
    worker.postMessage(port1, [port1]);
    for (const port of waiting.splice(0)) admit(port);
    adopt(link);
  }

  function adopt(link: EngineLink): void {
    own = link;
    events?.onLink(link);
  }

  function admit(port: MessagePort): void {
    if (worker) worker.postMessage(port, [port]);
    else if (broken) refuse(port, broken);
    else waiting.push(port);
  }

  function fail(why: string): void {
    broken = why;
    events?.onBroken(why);
    tell({ type: 'kubetab-failed', why });
    for (const port of waiting.splice(0)) refuse(port, why);
  }
}

/** Ports that have come while the engine's first bundle is being fetched. */
const waiting: MessagePort[] = [];

/** What the address says that the engine begins with. */
async function firstOf(query: URLSearchParams): Promise<Beginning> {
  const address = query.get('bundle');
  if (!address) return {};
  const url = new URL(address, document.baseURI);
  const response = await fetch(url).catch((error: unknown) => {
    throw new Error(`The bundle ${url.pathname} could not be reached (${wordsOf(error)}).`);
  });
  if (!response.ok) throw new Error(`The server answered ${response.status} to ${url.pathname}.`);
  return { bundle: new Uint8Array(await response.arrayBuffer()) };
}

function announce(): void {
  tell({ type: 'kubetab-frame', protocol: PROTOCOL });
}

/** Says nothing that is not for everybody: who frames this page is not known before it has connected. */
function tell(message: FromFrame): void {
  if (parent !== window) parent.postMessage(message, '*');
}

function refuse(port: MessagePort, why?: string): void {
  port.postMessage({ type: 'refused', protocol: PROTOCOL, ...(why && { why }) } satisfies Refused);
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
