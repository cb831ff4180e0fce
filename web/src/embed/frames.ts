import { PROTOCOL } from '../client/version';
import type { Beginning, Connect, FromFrame, Show, ToFrame } from '../protocol';

/** How long a frame may take to say that it is there, in ms: first until it has loaded, then until its scripts run. */
const LOADING = 60_000;
const LOADED = 10_000;

/** A frame with embed.html, and the one origin that messages are taken from and sent to. */
export interface Frame {
  readonly element: HTMLIFrameElement;
  readonly address: URL;
}

/** Makes a frame that nobody sees. It is the caller's to remove. */
export function hiddenFrame(address: URL): Frame {
  const element = document.createElement('iframe');
  // The attribute alone gives way to any rule of the page for frames.
  element.style.setProperty('display', 'none', 'important');
  element.title = 'Kubetab';
  element.src = address.href;
  document.body.append(element);
  return { element, address };
}

/**
 * Waits until a frame is there.
 *
 * @throws Error with a sentence when it cannot be loaded, and the signal's reason
 */
export function untilThere({ element, address }: Frame, signal: AbortSignal): Promise<void> {
  const origin = originOf(element, address);
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const until = { signal: over.signal };
    let patience = 0;
    const settle = (then: () => void) => {
      clearTimeout(patience);
      over.abort();
      then();
    };
    const fail = (why: string) => settle(() => reject(new Error(why)));
    const wait = (ms: number) => {
      clearTimeout(patience);
      patience = window.setTimeout(() => fail(`${address.origin} does not answer.`), ms);
    };
    addEventListener(
      'message',
      ({ source, origin: from, data }: MessageEvent<FromFrame>) => {
        if (source !== element.contentWindow || from !== origin) return;
        if (data?.type === 'kubetab-failed') fail(data.why);
        else if (data?.type !== 'kubetab-frame') return;
        else if (data.protocol === PROTOCOL) settle(resolve);
        else fail(otherVersion(address, data.protocol));
      },
      until,
    );
    element.addEventListener('load', () => wait(LOADED), until);
    signal.addEventListener('abort', () => settle(() => reject(signal.reason)), until);
    wait(LOADING);
    if (signal.aborted) settle(() => reject(signal.reason));
    // It may have said so before anybody listened.
    else element.contentWindow?.postMessage({ type: 'kubetab-ask' } satisfies ToFrame, '*');
  });
}

/** Gives a frame a port. `beginning` as in `Connect`; without a frame's own engine, see `showIn`. */
export function connect(frame: Frame, port: MessagePort, beginning?: Beginning): void {
  say(
    frame,
    { type: 'kubetab-connect', protocol: PROTOCOL, ...(beginning && { beginning }) },
    port,
  );
}

export function showIn(frame: Frame, port: MessagePort): void {
  say(frame, { type: 'kubetab-show', protocol: PROTOCOL }, port);
}

/** The browser drops the message, and the port with it, if the frame has gone to another origin meanwhile. */
function say({ element, address }: Frame, message: Connect | Show, port: MessagePort): void {
  const origin = originOf(element, address);
  // No name stands for the origin of a frame that has none. It cannot go elsewhere by itself: only who frames it sends it.
  element.contentWindow?.postMessage(message, origin === 'null' ? '*' : origin, [port]);
}

/** What the browser says of messages from it: a frame with the attribute sandbox has no origin, unless it is given one. */
function originOf(element: HTMLIFrameElement, { origin }: URL): string {
  const isCutOff = element.hasAttribute('sandbox');
  return isCutOff && !element.sandbox.contains('allow-same-origin') ? 'null' : origin;
}

function otherVersion({ origin }: URL, theirs: number): string {
  return `${origin} speaks version ${theirs} of Kubetab's protocol and this page version ${PROTOCOL}.`;
}
