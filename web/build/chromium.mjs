// Chromium for measuring: started as a visitor's is, and asked nothing but what Runtime.evaluate answers. A test tool has
// it report every request and each piece of every body, which costs a third of a millisecond for a request, a quarter of a
// second for a start, and more than the rest together for two hundred watches.
//
// The protocol is https://chromedevtools.github.io/devtools-protocol/, over the pipe of --remote-debugging-pipe: messages
// of JSON, each ended by a zero byte.
import { spawn } from 'node:child_process';

/** Where it is. */
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Root may run it, without a graphics card, and nothing but the page is asked over the network. */
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Starts Chromium with one empty page.
 *
 * @param {string} profile folder of the profile
 * @returns {Promise<Browser>}
 * @throws {Error} when it does not start
 */
export async function launch(profile) {
  const flags = [
    ...FLAGS,
    '--headless=new',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
  ];
  const program = spawn(CHROMIUM, [...flags, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const browser = new Browser(program);
  await browser.attach();
  return browser;
}

/**
 * Starts Chromium and waits until it has loaded the pages of its own, which take two processors for a second. A visitor's
 * browser has done so before.
 *
 * @param {string} profile folder of the profile
 * @returns {Promise<Browser>}
 * @throws {Error} when it does not start
 */
export async function launchSettled(profile) {
  const browser = await launch(profile);
  await new Promise((resolve) => setTimeout(resolve, 4000));
  return browser;
}

export class Browser {
  #program;
  #session;
  #lastId = 0;
  #waiting = new Map(); // id -> {resolve, reject}
  #onAttached = () => {};

  constructor(program) {
    this.#program = program;
    let text = '';
    program.stdio[4].setEncoding('utf8').on('data', (piece) => {
      const messages = (text + piece).split('\0');
      text = messages.pop();
      for (const message of messages) this.#receive(JSON.parse(message));
    });
    const ended = (why) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`Chromium: ${why}`));
      this.#waiting.clear();
    };
    program.once('error', (error) => ended(error.message));
    program.once('exit', (code) => ended(`ended with code ${code}`));
    program.stdio[3].on('error', () => {}); // its end is told by exit
  }

  /** @internal */
  async attach() {
    const { targetInfos } = await this.#send('Target.getTargets');
    const { targetId } = targetInfos.find(({ type }) => type === 'page');
    const attached = await this.#send('Target.attachToTarget', { targetId, flatten: true });
    this.#session = attached.sessionId;
  }

  /** Begins to load a page, and resolves when its document has begun. */
  async goto(url) {
    const { errorText } = await this.#send('Page.navigate', { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
  }

  /**
   * @param {(...args: any[]) => unknown} f runs in the page; it sees nothing of this program
   * @param {...unknown} args as JSON
   * @returns {Promise<any>} what it returns, or what its promise resolves to, as JSON
   * @throws {Error} what it throws, and when the page goes away meanwhile
   */
  async evaluate(f, ...args) {
    const { result, exceptionDetails } = await this.#send('Runtime.evaluate', {
      expression: `(${f})(...${JSON.stringify(args)})`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (!exceptionDetails) return result.value;
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  }

  /** Types text into what has the focus; \r is the Enter key. */
  async type(text) {
    for (const key of text) {
      await this.#send('Input.dispatchKeyEvent', {
        type: 'keyDown',
        text: key,
        key: key === '\r' ? 'Enter' : key,
        ...(key === '\r' && { code: 'Enter', windowsVirtualKeyCode: 13 }),
      });
    }
  }

  /**
   * Profiles all threads of the page and of its workers while act runs, also those that begin meanwhile.
   *
   * @param {number} rate samples a millisecond
   * @param {() => Promise<unknown>} act
   * @returns {Promise<{thread: string, profile: object}[]>} thread: page, or the type of its
   *   worker; profile: a Profiler.Profile of the protocol
   */
  async profile(rate, act) {
    const threads = [];
    const begin = async (sessionId, thread, targetId) => {
      threads.push({ sessionId, thread, targetId });
      await this.#send('Profiler.enable', {}, sessionId);
      await this.#send('Profiler.setSamplingInterval', { interval: 1000 / rate }, sessionId);
      await this.#send('Profiler.start', {}, sessionId);
    };
    const follow = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };
    const begun = [];
    this.#onAttached = ({ sessionId, targetInfo }) => {
      const { targetId, type } = targetInfo;
      const isNew = /worker/.test(type) && !threads.some((t) => t.targetId === targetId);
      const attached = isNew ? begin(sessionId, type, targetId) : Promise.resolve();
      begun.push(
        attached
          .then(() => isNew && this.#send('Target.setAutoAttach', follow, sessionId))
          .then(() => this.#send('Runtime.runIfWaitingForDebugger', {}, sessionId))
          .catch(() => {}), // it has ended
      );
    };
    await begin(this.#session, 'page');
    await this.#send('Target.setAutoAttach', follow); // its dedicated workers
    await this.#send('Target.setAutoAttach', follow, null); // shared and service workers
    await act();
    this.#onAttached = () => {};
    await Promise.all(begun);
    const profiles = [];
    for (const { sessionId, thread } of threads) {
      const stopped = await this.#send('Profiler.stop', {}, sessionId).catch(() => null);
      if (stopped) profiles.push({ thread, profile: stopped.profile });
      if (sessionId !== this.#session)
        await this.#send('Target.detachFromTarget', { sessionId }, null).catch(() => {});
    }
    return profiles;
  }

  /** Resolves when it has ended, with what it keeps written. */
  async close() {
    const ended = new Promise((resolve) => this.#program.once('exit', resolve));
    if (this.#program.exitCode === null) {
      this.#send('Browser.close').catch(() => {}); // it may end before it answers
      await ended;
    }
  }

  /** @param {string?} sessionId of the page unless another is given; null: of the browser */
  #send(method, params = {}, sessionId = this.#session) {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      const message = { id, method, params, ...(sessionId && { sessionId }) };
      this.#program.stdio[3].write(`${JSON.stringify(message)}\0`);
    });
  }

  #receive({ id, method, params, result, error }) {
    if (method === 'Target.attachedToTarget') this.#onAttached(params);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }
}
