import type { EngineStats } from '../answers/boundary';
import type {
  EngineSettings,
  EngineState,
  FromEngine,
  Hello,
  Restart,
  ToEngine,
} from '../protocol';
import { exchange, type StreamCount } from './exchange';
import { Exchanges } from './exchanges';
import { uniqueName } from './unique';
import { PROTOCOL } from './version';

/**
 * One client's connection to the engine worker: the control port, the state that the engine reports, and the death of
 * the worker. The worker holds a Web Lock while it lives. A client that is granted this lock knows that the worker
 * has died, which no message could tell.
 */
export class EngineLink {
  readonly #port: MessagePort;
  readonly #lost = new AbortController();
  readonly #welcomed: Promise<void>;
  #welcome!: () => void;
  #state: EngineState | null = null;
  #worker = '';
  readonly #exchanges = new Exchanges((message, transfer) => this.#send(message, transfer));
  readonly #answers = new Map<number, (message: FromEngine) => void>();
  #nonce = 0;
  /** What is to be said behind the hello, before which the worker listens to nothing else; null once that was said. */
  #behindHello: [message: ToEngine, transfer: Transferable[]][] | null = [];
  #release: () => void = () => undefined;

  /** Called whenever the state changes, first with the state in the welcome. */
  onState: (state: EngineState) => void = () => undefined;

  readonly #sharesLocks: boolean;

  /** @param sharesLocks whether Web Locks here are those of the worker: they belong to an origin */
  constructor(port: MessagePort, role: Hello['role'], sharesLocks = true) {
    this.#port = port;
    this.#sharesLocks = sharesLocks;
    this.#welcomed = new Promise((resolve) => {
      this.#welcome = resolve;
    });
    port.onmessage = ({ data }: MessageEvent<FromEngine>) => this.#receive(data);
    void this.#introduce(role);
  }

  /** Aborted when the worker at the other end is gone or speaks another protocol; the reason is an Error with words. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get state(): EngineState | null {
    return this.#state;
  }

  /** Names the worker: another name after a reconnect means another engine, with none of the old objects. */
  get worker(): string {
    return this.#worker;
  }

  /** Resolves when the worker has answered, rejects with the reason of `lost`. */
  async welcomed(): Promise<void> {
    await Promise.race([this.#welcomed, rejected(this.lost)]);
  }

  /** See `exchange`. */
  request(request: Request, url: string, streams?: StreamCount): Promise<Response> {
    return exchange(this.#exchanges, request, url, this.lost, streams);
  }

  async stats(): Promise<EngineStats | null> {
    const nonce = ++this.#nonce;
    const answer = await this.#ask({ type: 'stats', nonce }, nonce);
    return answer.type === 'stats' ? answer.stats : null;
  }

  /** Resolves when the worker answers; rejects only when it is lost. A worker busy in Go answers late. */
  async ping(): Promise<void> {
    const nonce = ++this.#nonce;
    await this.#ask({ type: 'ping', nonce }, nonce);
  }

  /** A new control port to the same engine, for another party to say hello on. */
  introduce(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.introducePort(port1);
    return port2;
  }

  /** As `introduce`, with a channel whose other end was already given away. */
  introducePort(port: MessagePort): void {
    this.#send({ type: 'introduce', port }, [port]);
  }

  forgetOthers(): void {
    this.#send({ type: 'forget-others' });
  }

  restart(objects: Restart['objects'], settings?: EngineSettings): void {
    this.#send({ type: 'restart', objects, ...(settings && { settings }) });
  }

  /** For callers that know that there is no worker at the other end. */
  lose(why: string): void {
    this.#abandon(why);
  }

  close(): void {
    this.#send({ type: 'goodbye' });
    this.#abandon('This connection was closed.');
  }

  async #introduce(role: Hello['role']): Promise<void> {
    const lock = await this.#hold();
    const waiting = this.#behindHello ?? [];
    this.#behindHello = null;
    this.#send({ type: 'hello', protocol: PROTOCOL, role, lock });
    for (const [message, transfer] of waiting) this.#send(message, transfer);
  }

  /** Takes a lock that nobody else wants and keeps it until the link is closed or this thread dies. */
  #hold(): Promise<string | null> {
    if (!this.#sharesLocks || !navigator.locks) return Promise.resolve(null);
    const name = `kubetab-party-${uniqueName()}`;
    return new Promise((held) => {
      navigator.locks
        .request(name, () => {
          held(name);
          return new Promise<void>((release) => {
            this.#release = release;
          });
        })
        .catch(() => held(null)); // storage is closed to this site, and locks with it
    });
  }

  #receive(message: FromEngine): void {
    switch (message.type) {
      case 'welcome':
        if (message.protocol !== PROTOCOL) {
          this.#abandon(versionWords(message.protocol));
          return;
        }
        this.#worker = message.worker;
        if (message.lock && this.#sharesLocks) this.#watchOver(message.lock);
        this.#welcome();
        this.#setState(message.state);
        return;
      case 'refused':
        this.#abandon(message.why ?? versionWords(message.protocol));
        return;
      case 'state':
        this.#setState(message.state);
        return;
      case 'answers':
        this.#exchanges.deliver(message.answers);
        return;
      case 'stats':
      case 'pong':
        this.#answers.get(message.nonce)?.(message);
        this.#answers.delete(message.nonce);
        return;
      default:
        message satisfies never;
    }
  }

  #watchOver(lock: string): void {
    navigator.locks
      .request(lock, { mode: 'shared', signal: this.lost }, () =>
        this.#abandon('The worker that held the cluster has ended.'),
      )
      .catch(() => undefined); // the link was closed first
  }

  #setState(state: EngineState): void {
    this.#state = state;
    this.onState(state);
  }

  async #ask(message: ToEngine, nonce: number): Promise<FromEngine> {
    const answer = new Promise<FromEngine>((resolve) => this.#answers.set(nonce, resolve));
    this.#send(message);
    return Promise.race([answer, rejected(this.lost)]);
  }

  #send(message: ToEngine, transfer: Transferable[] = []): void {
    if (this.#behindHello) this.#behindHello.push([message, transfer]);
    else this.#port.postMessage(message, transfer);
  }

  #abandon(why: string): void {
    if (this.lost.aborted) return;
    this.#lost.abort(new Error(why));
    this.#answers.clear();
    this.#release();
    this.#port.close();
  }
}

function versionWords(theirs: number): string {
  return `The engine worker speaks version ${theirs} of the protocol and this page version ${PROTOCOL}. Close every tab of this site, then open it again.`;
}

function rejected(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
