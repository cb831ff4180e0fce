/** The longest time that a message takes between a page and its engine, in ms. */
const LATEST = 200;

/** Whether pages and engines hear of each other late: see `make test-late`. */
export const LATE = process.env.KUBETAB_LATE === '1';

/**
 * What has messages of a page's ports take a time of their own, at most LATEST, in their order: as an init script of a
 * context. With it, what takes for granted that nothing happens between two requests, or that an answer is there already, fails
 * often, and not once in a hundred runs. The times are of chance, as those of core/delayevents.go are: each run is to be another
 * one, and a seed would not bring the same again, because the browser's own times differ.
 */
export function holdUp(): [(latest: number) => void, number] {
  return [slowPorts, LATEST];
}

/** Runs in pages. */
function slowPorts(latest: number): void {
  const { setTimeout } = window;
  /** A port's line, in one direction. Two timers for one moment may fire in either order: what comes waits for what came before. */
  const line = () => {
    let before = Promise.resolve();
    return (act: () => void) => {
      const passed = new Promise<void>((resolve) => setTimeout(resolve, Math.random() * latest));
      before = Promise.all([before, passed]).then(act);
    };
  };
  const lines = new WeakMap<MessagePort, (act: () => void) => void>();
  const out = (port: MessagePort) => {
    const known = lines.get(port) ?? line();
    lines.set(port, known);
    return known;
  };
  const { postMessage, close } = MessagePort.prototype;
  MessagePort.prototype.postMessage = function (...said: unknown[]) {
    out(this)(() => Reflect.apply(postMessage, this, said));
  };
  MessagePort.prototype.close = function () {
    out(this)(() => Reflect.apply(close, this, []));
  };
  const heard = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage');
  if (!heard?.get || !heard.set) throw new Error('A port has no onmessage that can be held up.');
  const { get, set } = heard;
  const handlers = new WeakMap<MessagePort, ((event: MessageEvent) => void) | null>();
  Object.defineProperty(MessagePort.prototype, 'onmessage', {
    ...heard,
    get(this: MessagePort) {
      return handlers.get(this) ?? Reflect.apply(get, this, []);
    },
    set(this: MessagePort, handler: ((event: MessageEvent) => void) | null) {
      handlers.set(this, handler);
      const arrives = line();
      const hear = (event: MessageEvent) => arrives(() => handlers.get(this)?.call(this, event));
      Reflect.apply(set, this, [handler && hear]);
    },
  });
}
