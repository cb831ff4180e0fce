// The wasm engine inside Node: what the engine worker of the page is to a browser.
//
// One engine per thread: kubetabHost, kubetabEngine and Go are globals by agreement with wasm/*.go.

import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { decode, hex, sha256, SnapshotError } from '../snapshot/format.mjs';
import { answerCalls } from '../boundary/imports.mjs';
import { giveBack } from '../boundary/give-back.mjs';
import { partsOnDemand } from '../split/rest.mjs';
import { coarseWhileIdle } from '../boundary/timers.mjs';
import { continueClocks, thaw } from '../snapshot/thaw.mjs';
import { recordCalls } from './profile.mjs';
import { environment, MemoryFiles } from './files.mjs';

// What a response may be ahead of its reader.
export const WINDOW = 256 * 1024;

// How much of stderr is kept, to tell what the program died of.
const LAST_WORDS = 64 * 1024;

export class EngineError extends Error {
  name = 'EngineError';
}

/**
 * Starts an engine and returns when the module runs, or when it is ready if it goes on from a snapshot; stages tell how
 * far it has come.
 *
 * @param {object} options
 * @param {string} options.wasm path of the module; wasm_exec.js lies beside it, and what wasm/split has cut off as .soon.wasm and .rest.wasm
 * @param {string} [options.snapshot] path of the snapshot to go on from; one that cannot be used costs a line in the log
 * @param {Map<string, Uint8Array>} [options.kept] what an earlier engine has done, from the snapshot on or from nothing:
 *   done again if there is anything, and added to; refusedKept of the engine says why not
 * @param {Map<string, Uint8Array>} [options.earlier] what an engine of another build has left, to be taken over; what
 *   becomes of it goes to kept, and leftOut of the engine says what does not
 * @param {object} [options.config] the settings of wasm/settings.go
 * @param {(name: string, ms: number) => void} [options.onStage]
 * @param {(text: string) => void} [options.onLog] what Go writes to stdout and stderr; default: to stderr
 * @param {(slot: number, part: string) => Promise<WebAssembly.Module>} [options.later] brings what wasm/split has cut off, soon
 *   or rest, in place of reading it from the folder while the program stands still: see Part in ../split/rest.mjs
 * @param {(retry: () => void, ms: number) => void} [options.after] when that is tried again: see Later
 * @param {(go: object) => void} [options.onProgram] before the module is instantiated
 * @param {(instance: WebAssembly.Instance, go: object) => void} [options.onInstance] before the program runs
 * @returns {Promise<Engine>}
 * @throws {EngineError} when there is no module or the program ends before it takes requests
 */
export async function startEngine({ wasm, snapshot, kept, earlier, config = {}, onStage, onLog = (text) => process.stderr.write(text), later, after = (retry, ms) => setTimeout(retry, ms).unref(), onProgram, onInstance }) {
  const engine = new Engine(onStage, onLog);
  if (!existsSync(wasm)) throw new EngineError(`${wasm}: there is no module; make wasm builds it`);
  await import(pathToFileURL(join(dirname(wasm), 'wasm_exec.js')).href);
  engine.captureOutput();
  new MemoryFiles().install(globalThis);
  globalThis.kubetabHost = engine.host(JSON.stringify(config), kept, earlier);
  const bytes = await readFile(wasm);
  const module = await WebAssembly.compile(bytes);
  const began = performance.now();
  const calls = join(dirname(wasm), 'called');
  const fileOf = (part) => wasm.replace(/(\.wasm)?$/, `.${part}.wasm`);
  const read = (part) => (slot) => {
    globalThis.kubetabHost.stage(part, performance.now() - began);
    onLog(`kubetab: the ${part} of the module is needed for slot ${slot}, which go run ./wasm/split -slot ${slot} build/wasm/whole.wasm names\n`);
    return readFileSync(fileOf(part));
  };
  const parts = ['soon', 'rest'].filter((part) => part === 'rest' || existsSync(fileOf(part)));
  const onDemand = (go, options) => {
    const all = parts.map((part) => ({ read: read(part), get: later && ((slot) => later(slot, part)) }));
    return partsOnDemand(go, all, options);
  };
  // What comes soon is here at once, unless somebody else brings it.
  const soon = parts.length > 1 && !later ? await WebAssembly.compile(await readFile(fileOf('soon'))) : null;
  const waiting = later && { ...engine.rest, after };

  if (snapshot !== undefined) {
    try {
      const frozen = await readSnapshot(snapshot, bytes, config);
      const go = newProgram(engine);
      continueClocks(go, frozen.header);
      onProgram?.(go);
      const { link, put, bring } = onDemand(go, { later: waiting });
      const instance = await WebAssembly.instantiate(module, go.importObject);
      link(instance);
      if (soon) put(soon);
      engine.memory = instance.exports.mem;
      onInstance?.(instance, go);
      recordCalls(instance, calls);
      thaw(go, instance, frozen);
      globalThis.kubetabHost.started();
      globalThis.kubetabEngine.thawed();
      await engine.stage('ready'); // what others may not share has been made anew
      bring();
      return engine;
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      onLog(`kubetab: the engine is started without its snapshot: ${error.message}\n`);
    }
  }
  const go = newProgram(engine);
  onProgram?.(go);
  const { link, put, leave } = onDemand(go, config);
  const instance = await WebAssembly.instantiate(module, go.importObject);
  link(instance);
  engine.leaveRest = leave;
  engine.memory = instance.exports.mem;
  onInstance?.(instance, go); // sees memory as the engine's module makes it
  if (soon) put(soon);
  // What only a start calls is in the snapshot.
  engine.stage('ready').then(() => recordCalls(instance, calls), () => {});
  go.run(instance).catch((error) => engine.crashed(error));
  await engine.started;
  return engine;
}

/** @throws {SnapshotError} when it cannot be read, or is not for this module and these settings */
async function readSnapshot(path, module, config) {
  let frozen;
  try {
    frozen = await decode(createReadStream(path, { highWaterMark: 1 << 20 }));
  } catch (error) {
    throw error instanceof SnapshotError ? error : new SnapshotError(String(error.message));
  }
  if (frozen.header.module !== hex(await sha256(module))) throw new SnapshotError('it is of another module');
  if (frozen.header.config !== JSON.stringify(config)) throw new SnapshotError('it is of other settings');
  return frozen;
}

// A program that reports its end to engine.
function newProgram(engine) {
  const go = new globalThis.Go();
  engine.asked = coarseWhileIdle(go);
  go.argv = ['kubetab'];
  go.env = { ...environment };
  go.exit = (code) => engine.ended(code);
  answerCalls(go, globalThis.kubetabHost);
  // An exception in Go's frames (the JavaScript stack being full is one) leaves Go's own stacks in a state
  // from which nothing can go on. Without this it would be an unhandled rejection of some timer's.
  const resume = go._resume;
  go._resume = function () {
    try {
      if (engine.code === undefined) resume.call(go);
    } catch (error) {
      engine.crashed(error);
    }
    if (engine.code === undefined) return;
    // A timer of Go's calls _resume until Go has taken the timer, which a program that has ended never does.
    for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer);
    go._scheduledTimeouts.clear();
  };
  return go;
}

export class Engine {
  #functions; // kubetabEngine, once it is there
  #streams = new Map();
  #lastID = 0;
  #lastWords = '';
  #fatal = ''; // what Go itself said it dies of
  #onStage;
  #onLog;
  #stages = new Map(); // name -> ms
  #waiting = new Map(); // stage name -> functions to call
  #settleStarted;
  #settleExited;

  /** @internal Called when a request is made. */
  asked = () => {};
  /** Has a program that will be frozen forget the rest of its module; see restOnDemand. */
  leaveRest;

  /** The module's linear memory. */
  memory;
  /** Why the kept entries cannot be used; undefined when they can. */
  refusedKept;
  /** The objects of another build's cluster that could not be taken over, a line for each; undefined when no cluster was taken over. */
  leftOut;
  /** The exit code, once the program has ended. */
  code;
  /** Resolves to the exit code when the program has ended. */
  exited = new Promise((resolve) => (this.#settleExited = resolve));
  /** Resolves when requests may be made. */
  started = new Promise((resolve, reject) => (this.#settleStarted = { resolve, reject }));

  constructor(onStage, onLog) {
    this.#onStage = onStage;
    this.#onLog = onLog;
    this.started.catch(() => {}); // whoever awaits it sees the error
  }

  /** Names and times (in ms since the program began) of the stages reached. */
  get stages() {
    return Object.fromEntries(this.#stages);
  }

  /** Resolves when the stage has been reached; rejects with an EngineError when it cannot be any more. */
  stage(name) {
    if (this.#stages.has(name)) return Promise.resolve();
    if (this.code !== undefined) return Promise.reject(this.#error());
    return new Promise((resolve, reject) => {
      this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), { resolve, reject }]);
    });
  }

  /** What kubetabEngine.stats() tells. */
  stats() {
    this.#assertRuns();
    return JSON.parse(this.#functions.stats());
  }

  /** Asks the program to end; resolves to its exit code. */
  close() {
    if (this.code === undefined) this.#functions?.close();
    return this.exited;
  }

  /**
   * Begins a request at the lowest level; the caller grants credit and answers pulls itself.
   *
   * @param {{method: string, url: string, headers?: string[], body?: Uint8Array | 'follows' | null, window?: number}}
   *   request headers: name, value, name, value, ...; window: bytes of credit
   * @param {object} on head(status, headers), chunk(bytes), end(), abort(message), pull(): called while Go
   *   runs, so they must not wait; calling back from inside works, but returning first is cheaper
   * @returns {{body(bytes: Uint8Array | null): void, credit(bytes: number): void, cancel(): void}}
   *   calls after the end do nothing
   */
  open({ method, url, headers = [], body = null, window = 0 }, on) {
    this.#assertRuns();
    this.asked();
    const id = ++this.#lastID;
    this.#streams.set(id, on);
    this.#functions.request(id, method, url, headers.join('\n'), body, window);
    const call = (name, ...args) => {
      if (this.#streams.has(id) && this.code === undefined) this.#functions[name](id, ...args);
    };
    return {
      body: (bytes) => call('body', bytes),
      credit: (bytes) => call('credit', bytes),
      cancel: () => {
        call('cancel');
        this.#streams.delete(id);
      },
    };
  }

  /**
   * fetch for the engine, with a path for a URL: same arguments, same Response, no credentials or redirects.
   *
   * @param {string} url path and query
   * @param {RequestInit} [init] body: anything a Response takes
   * @returns {Promise<Response>}
   * @throws {EngineError} when the response cannot be completed; the signal's reason when it is aborted
   */
  async fetch(url, { method = 'GET', headers, body, signal } = {}) {
    signal?.throwIfAborted();
    const pairs = [...new Headers(headers)].flat();
    const outgoing = body == null ? undefined : new Response(body);
    const type = outgoing?.headers.get('content-type');
    if (type && !new Headers(headers).has('content-type')) pairs.push('content-type', type);
    const reader = outgoing?.body.getReader();
    return await new Promise((resolve, reject) => {
      let controller;
      let finished = false;
      const fail = (error) => {
        finished = true;
        reader?.cancel(error).catch(() => {});
        reject(error);
        controller?.error(error);
      };
      const send = async () => {
        try {
          const { value, done } = await reader.read();
          stream.body(done ? null : value);
        } catch (error) {
          stream.cancel();
          fail(error);
        }
      };
      const aborted = () => {
        if (finished) return;
        stream.cancel();
        fail(signal.reason);
      };
      const stream = this.open(
        { method, url, headers: pairs, body: reader ? 'follows' : null, window: WINDOW },
        {
          head: (status, list) => {
            const empty = [204, 205, 304].includes(status) || method === 'HEAD';
            const answer = new Headers();
            for (let i = 0; i < list.length; i += 2) answer.append(list[i], list[i + 1]);
            const source = new ReadableStream(
              {
                start: (c) => void (controller = c),
                pull: () => {}, // credit is given as chunks are taken, below
                cancel: () => {
                  finished = true;
                  stream.cancel();
                },
              },
              { highWaterMark: 0 },
            );
            resolve(new Response(empty ? null : metered(source, (n) => stream.credit(n)), { status, headers: answer }));
          },
          chunk: (bytes) => controller.enqueue(bytes),
          end: () => {
            finished = true;
            signal?.removeEventListener('abort', aborted);
            controller.close();
          },
          abort: (message) => fail(new EngineError(message)),
          pull: () => void send(),
        },
      );
      signal?.addEventListener('abort', aborted, { once: true });
      if (reader) void send();
    });
  }

  /** @internal kubetabHost, as wasm/host_js.go calls it. */
  host(config, kept, earlier) {
    const last = (id) => {
      const on = this.#streams.get(id);
      this.#streams.delete(id);
      return on;
    };
    return {
      config,
      started: () => {
        this.#functions = globalThis.kubetabEngine;
        // A copy: what Go takes over it may have forgotten at once.
        const entries = [...(earlier ?? kept ?? [])];
        if (earlier) entries.push(['other', new Uint8Array()]);
        giveBack(this.#functions, entries);
        this.#settleStarted.resolve();
      },
      stage: (name, ms) => {
        this.#stages.set(name, ms);
        this.#onStage?.(name, ms);
        for (const { resolve } of this.#waiting.get(name) ?? []) resolve();
        this.#waiting.delete(name);
      },
      head: (id, status, headers) => this.#streams.get(id)?.head(status, headers),
      chunk: (id, bytes) => this.#streams.get(id)?.chunk(bytes),
      pull: (id) => this.#streams.get(id)?.pull(),
      keep: kept && ((name, record, superseded) => {
        for (const old of superseded.split(' ')) kept.delete(old);
        if (record.length > 0) kept.set(name, record);
        else kept.delete(name);
      }),
      notKept: (why) => void (this.refusedKept = why),
      takenOver: (left) => void (this.leftOut = left === '' ? [] : left.split('\n')),
      end: (id) => last(id)?.end(),
      abort: (id, message) => last(id)?.abort(message),
      fatal: (message) => void (this.#fatal = message),
    };
  }

  /** @internal Makes Go's stdout and stderr ours. wasm_exec.js has made fs, and calls it by that name. */
  captureOutput() {
    const decoder = new TextDecoder();
    globalThis.fs.writeSync = (fd, bytes) => {
      const text = decoder.decode(bytes, { stream: true });
      if (fd === 2) this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS);
      this.#onLog(text);
      return bytes.length;
    };
  }

  /** @internal How the program hears of its other parts: see Later in ../split/rest.mjs. */
  rest = {
    canWait: () => this.#functions !== undefined,
    arrived: () => this.#functions.arrived(),
    missing: (why) => this.#functions.missing(why),
  };

  /** @internal The program has ended. */
  ended(code) {
    if (this.code !== undefined) return;
    this.code = code;
    const error = this.#error();
    for (const on of this.#streams.values()) on.abort(error.message);
    this.#streams.clear();
    for (const list of this.#waiting.values()) for (const { reject } of list) reject(error);
    this.#waiting.clear();
    this.#settleStarted.reject(error);
    this.#settleExited(code);
  }

  /** @internal JavaScript threw inside Go's frames. */
  crashed(error) {
    this.#fatal ||= String(error?.stack ?? error);
    this.#onLog(`kubetab: ${this.#fatal}\n`);
    this.ended(2);
  }

  #assertRuns() {
    if (this.code !== undefined) throw this.#error();
    if (!this.#functions) throw new EngineError('the engine does not take requests yet');
  }

  // Why there is no engine any more. Go prints a panic of any goroutine and ends with 2.
  #error() {
    if (this.code === 0) return new EngineError('the engine was closed');
    const panic = this.#lastWords.match(/^(panic: |fatal error: |runtime: )[^]*/m)?.[0];
    return new EngineError(this.#fatal || panic || `the engine ended with code ${this.code}`);
  }
}

// A stream that calls taken(n) when a reader has taken n bytes of source.
function metered(source, taken) {
  const reader = source.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await reader.read();
        if (done) return controller.close();
        controller.enqueue(value);
        taken(value.length);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
