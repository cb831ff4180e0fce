import { uniqueName } from '../client/unique';
import { PROTOCOL } from '../client/version';
import type { FromEngine, ToEngine } from '../protocol';
import { Outbox } from './outbox';
import type { Supervisor } from './supervisor';

/** How long a worker is kept that no page is left of, in ms: a reload is over sooner, and a tab that was closed by mistake open again. */
export const DESERTED = 30_000;

/**
 * The parties of this worker: pages and the service worker, each with a control port that begins with `Hello`. The
 * worker notices the death of a party by the Web Lock that the party has named, and ends its requests: a closed tab
 * must not leave watches running.
 */
export class Parties {
  /** Called when the last page has been gone for DESERTED ms; never if there is one whose end no lock tells. */
  onDeserted: () => void = () => undefined;

  readonly #supervisor: Supervisor;
  readonly #worker = uniqueName();
  readonly #lock: Promise<string | null>;
  readonly #ports = new Set<MessagePort>();
  readonly #pages = new Set<MessagePort>();
  #deserted: ReturnType<typeof setTimeout> | undefined;

  constructor(supervisor: Supervisor) {
    this.#supervisor = supervisor;
    this.#lock = holdForLife(`kubetab-engine-${this.#worker}`);
    supervisor.onState = (state) => this.#tell({ type: 'state', state });
  }

  admit(port: MessagePort): void {
    this.#stay();
    port.onmessage = ({ data }: MessageEvent<ToEngine>) => void this.#greet(port, data);
  }

  async #greet(port: MessagePort, message: ToEngine): Promise<void> {
    if (message.type !== 'hello') return;
    if (message.protocol !== PROTOCOL) {
      post(port, { type: 'refused', protocol: PROTOCOL });
      port.close();
      return;
    }
    // Requests may follow at once: nothing may be lost while the lock is being taken.
    const outbox = new Outbox(port);
    port.onmessage = ({ data }: MessageEvent<ToEngine>) => this.#receive(port, outbox, data);
    if (message.role === 'page') {
      this.#stay(); // it may have connected before the last one left
      this.#pages.add(port);
    }
    if (message.lock) this.#watchOver(port, outbox, message.lock);
    const lock = await this.#lock;
    this.#ports.add(port);
    const { state } = this.#supervisor;
    post(port, { type: 'welcome', protocol: PROTOCOL, worker: this.#worker, lock, state });
  }

  #receive(port: MessagePort, outbox: Outbox, message: ToEngine): void {
    switch (message.type) {
      case 'hello':
        return;
      case 'introduce':
        this.admit(message.port);
        return;
      case 'request':
        this.#supervisor.request(message, outbox);
        return;
      case 'body':
      case 'body-end':
      case 'credit':
      case 'cancel':
        this.#supervisor.tell(message, outbox);
        return;
      case 'restart':
        this.#supervisor.restart(message.objects, message.settings);
        return;
      case 'forget-others':
        void this.#supervisor.forgetOthers();
        return;
      case 'stats':
        post(port, { type: 'stats', nonce: message.nonce, stats: this.#supervisor.stats() });
        return;
      case 'ping':
        post(port, { type: 'pong', nonce: message.nonce });
        return;
      case 'goodbye':
        this.#leave(port, outbox);
        return;
      default:
        message satisfies never;
    }
  }

  #watchOver(port: MessagePort, outbox: Outbox, lock: string): void {
    navigator.locks
      .request(lock, { mode: 'shared' }, () => this.#leave(port, outbox))
      .catch(() => undefined); // no locks here: see holdForLife
  }

  #leave(port: MessagePort, outbox: Outbox): void {
    this.#ports.delete(port);
    if (this.#pages.delete(port) && this.#pages.size === 0) {
      this.#deserted = setTimeout(() => void this.#end(), DESERTED);
    }
    this.#supervisor.forget(outbox);
    port.onmessage = null;
    port.close();
  }

  #stay(): void {
    clearTimeout(this.#deserted);
    this.#deserted = undefined;
  }

  async #end(): Promise<void> {
    const mine = this.#deserted;
    await this.#supervisor.caughtUp();
    if (mine === this.#deserted) this.onDeserted(); // nobody came meanwhile
  }

  #tell(message: FromEngine): void {
    for (const port of this.#ports) post(port, message);
  }
}

function post(port: MessagePort, message: FromEngine): void {
  port.postMessage(message);
}

/** Resolves with the name once the lock is held; it is never released, so that its release means death. */
function holdForLife(name: string): Promise<string | null> {
  if (!navigator.locks) return Promise.resolve(null);
  return new Promise((held) => {
    navigator.locks
      .request(name, () => {
        held(name);
        return new Promise<never>(() => undefined);
      })
      .catch(() => held(null)); // storage is closed to this site, and locks with it
  });
}
