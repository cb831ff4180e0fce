import { uniqueName } from './unique';

/**
 * Carries MessagePorts over a BroadcastChannel, which cannot transfer them: for browsers without SharedWorker. There
 * the engine lives in a worker of one tab, and the other tabs have no other way to send messages to that worker.
 *
 *   follower's port ⇄ wire ⇄ BroadcastChannel ⇄ wire ⇄ port in the engine worker
 *
 * A message that transfers a port (`introduce`) opens a further wire. Everything is copied instead of
 * transferred, which is the price of the fallback.
 */
const CHANNEL = 'kubetab-engine ';

type Side = 'tab' | 'engine';

/** `open` asks for a wire to the engine; `here` says that an engine worker has begun to listen. */
type Frame =
  | { readonly type: 'open'; readonly wire: string }
  | { readonly type: 'here' }
  | {
      readonly type: 'message';
      readonly wire: string;
      readonly from: Side;
      readonly message: { readonly type: string };
      /** The wire that stands for the port in `message`. */
      readonly port: string | null;
    };

/** A control port is over after one of these. */
const LAST_WORDS = new Set(['goodbye', 'refused']);

class Bridge {
  readonly channel: BroadcastChannel;
  readonly #side: Side;
  readonly #wires = new Map<string, MessagePort>();
  #open = true;

  constructor(side: Side, engine: string) {
    this.#side = side;
    this.channel = new BroadcastChannel(CHANNEL + engine);
  }

  /** Joins `port` to the wire: what comes out of one goes into the other. */
  join(wire: string, port: MessagePort): void {
    this.#wires.set(wire, port);
    port.onmessage = ({ data }: MessageEvent<{ type: string; port?: MessagePort }>) => {
      const { port: carried, ...message } = data;
      const inner = carried ? uniqueName() : null;
      if (carried && inner) this.join(inner, carried);
      this.send({ type: 'message', wire, from: this.#side, message, port: inner });
      this.#afterLastWords(wire, message.type);
    };
  }

  knows(wire: string): boolean {
    return this.#wires.has(wire);
  }

  deliver(frame: Frame): void {
    if (frame.type !== 'message' || frame.from === this.#side) return;
    const port = this.#wires.get(frame.wire);
    if (!port) return;
    if (frame.port) {
      const { port1, port2 } = new MessageChannel();
      this.join(frame.port, port1);
      port.postMessage({ ...frame.message, port: port2 }, [port2]);
    } else {
      port.postMessage(frame.message);
    }
    this.#afterLastWords(frame.wire, frame.message.type);
  }

  send(frame: Frame): void {
    if (this.#open) this.channel.postMessage(frame);
  }

  close(): void {
    this.#open = false;
    this.channel.close();
  }

  #afterLastWords(wire: string, type: string): void {
    if (!LAST_WORDS.has(type)) return;
    const port = this.#wires.get(wire);
    this.#wires.delete(wire);
    // Closing at once would drop what was just posted into it.
    if (port) setTimeout(() => port.close());
  }
}

/**
 * In the engine worker: admits tabs that come over the channel.
 *
 * @param engine its name: see engineName
 */
export function listenForTabs(engine: string, admit: (port: MessagePort) => void): void {
  const bridge = new Bridge('engine', engine);
  bridge.channel.onmessage = ({ data }: MessageEvent<Frame>) => {
    if (data.type === 'open') {
      if (bridge.knows(data.wire)) return;
      const { port1, port2 } = new MessageChannel();
      bridge.join(data.wire, port1);
      admit(port2);
      return;
    }
    bridge.deliver(data);
  };
  bridge.send({ type: 'here' });
}

/** In a tab: gives a control port to the engine worker of another tab, now and whenever a new one announces itself. */
export function reachOverChannel(
  engine: string,
  onPort: (port: MessagePort) => void,
): { stop(): void } {
  const bridge = new Bridge('tab', engine);
  const open = () => {
    const wire = uniqueName();
    const { port1, port2 } = new MessageChannel();
    bridge.join(wire, port1);
    bridge.send({ type: 'open', wire });
    onPort(port2);
  };
  bridge.channel.onmessage = ({ data }: MessageEvent<Frame>) => {
    if (data.type === 'here') open();
    else bridge.deliver(data);
  };
  open();
  return { stop: () => bridge.close() };
}
