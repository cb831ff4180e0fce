import { giveBack } from '../../../wasm/boundary/give-back.mjs';
import { answerCalls } from '../../../wasm/boundary/imports.mjs';
import { coarseWhileIdle } from '../../../wasm/boundary/timers.mjs';
import { environment, MemoryFiles } from '../../../wasm/host/files.mjs';
import { type Snapshot, SnapshotError } from '../../../wasm/snapshot/format.mjs';
import { continueClocks, thaw } from '../../../wasm/snapshot/thaw.mjs';
import { EVERY, noteCalls } from '../../../wasm/split/marks.mjs';
import { partsOnDemand } from '../../../wasm/split/rest.mjs';
import type { Dead, EngineSettings, Run, StageTime } from '../protocol';
import { DownloadError, type OnBytes, together } from './download';
import { BUNDLE } from './journal/database';
import type { MemoryJournal } from './journal/memory-journal';
import type { Earlier, StoredJournal } from './journal/stored-journal';
import { compileModule, type ModuleInfo } from './module';
import { captureOutput } from './output';
import { type Early, type Parts, partsOf } from './parts';
import type { Requests } from './requests';
import type { KubetabEngine, KubetabHost } from './seam';
import { isDefault } from './settings';
import { fetchSnapshot, notUsed } from './snapshot';
import { Go, type GoProgram } from './wasm-exec';

/** What the program tells while it comes up, runs and ends. After `onDead` nothing more is called. */
export interface ProgramEvents {
  readonly onBytes: OnBytes;
  /** `engine` can take requests from now on, though the API may still answer 503 until the stage `ready`. */
  readonly onEngine: (engine: KubetabEngine) => void;
  readonly onStage: (stage: StageTime) => void;
  readonly onDead: (dead: Dead) => void;
}

/**
 * One run of the Go program, from the download to its end. It goes on from the snapshot where there is one that fits,
 * and starts from nothing otherwise. Whatever ends it - a panic, an exit, a trap of WebAssembly, a download that
 * fails - is reported once, with all that is known about it.
 */
export class Program {
  readonly #events: ProgramEvents;
  readonly #requests: Requests;
  readonly #journal: StoredJournal | MemoryJournal | null;
  readonly #output = captureOutput();
  #asked: () => void = () => undefined;
  #bringSoon: () => void = () => undefined;
  #over = false;
  #offered = false;
  #fatal = '';
  #compiled = false;
  #keeps = false;
  #takesOver = false;
  #run: Omit<Run, 'refused'> = {
    settings: {},
    from: 'nothing',
    cluster: 'new',
    notKept: null,
    otherBuilds: 0,
    leftOut: null,
  };

  /** @param journal what an earlier program has left, and where this one leaves it; null to keep nothing */
  constructor(
    requests: Requests,
    journal: StoredJournal | MemoryJournal | null,
    events: ProgramEvents,
  ) {
    this.#requests = requests;
    this.#journal = journal;
    this.#events = events;
  }

  /** How it came to be; to be read when it is ready. */
  get origin(): Omit<Run, 'refused'> {
    return this.#run;
  }

  /** Whether it goes on with the cluster of another build. */
  get takesOver(): boolean {
    return this.#takesOver;
  }

  /** What the program has printed. */
  get output(): string {
    return this.#output.text();
  }

  /** @param wanted the settings; undefined for those of the earlier engine, and the defaults if there was none */
  async run(info: ModuleInfo, base: URL, wanted?: EngineSettings): Promise<void> {
    try {
      const missing = missingFeature();
      if (missing) {
        this.#die('unsupported', 'This browser cannot run the API server.', missing);
        return;
      }
      const [ofModule, ofSnapshot, ofSoon] = together([info, null, null], this.#events.onBytes) as [
        OnBytes,
        OnBytes,
        OnBytes,
      ];
      const reading = this.#journal?.read() ?? Promise.resolve(NOTHING);
      const hadBefore = reading.then(hasVisited);
      const fitting = async () => {
        const { settings, from, isOfOther } = await reading;
        const asTaken = isDefault(wanted ?? settings) && (isOfOther || from !== 'nothing');
        return asTaken ? fetchSnapshot(info, base, ofSnapshot) : null;
      };
      const parts = this.#partsOf(info, base, async () => {
        // What goes on with a cluster calls it before it is ready, and so does what starts.
        const { settings, from } = await reading;
        const isNeeded = from !== null || !isDefault(wanted ?? settings);
        return isNeeded ? { onBytes: ofSoon, hadBefore } : null;
      });
      const [module, snapshot, earlier] = await Promise.all([
        compileModule(info, base, ofModule, hadBefore),
        fitting(),
        reading,
      ]);
      if (this.#over) return;
      const settings = wanted ?? earlier.settings;
      const cluster = earlier.from ? 'kept' : 'new';
      const from = snapshot ? 'snapshot' : 'nothing';
      const otherBuilds = earlier.others;
      this.#run = { settings, from, cluster, notKept: null, otherBuilds, leftOut: null };
      this.#takesOver = earlier.isOfOther;
      // A cluster that begins without the snapshot, where the next visit may have it, is not worth to be gone on with.
      this.#keeps = snapshot !== null || earlier.from !== null || !isDefault(settings);
      if (this.#keeps && (earlier.isOfOther || !earlier.from))
        this.#journal?.keepFrom(this.#run.from);
      this.#compiled = true;
      this.#events.onStage({ name: 'compile', ms: 0 });
      if (!snapshot || !(await this.#resume(module, parts, base, snapshot, earlier))) {
        await this.#start(module, parts, settings, earlier);
      }
    } catch (error) {
      this.failed(error);
    }
  }

  #partsOf(info: ModuleInfo, base: URL, early: Early): Parts {
    const began = performance.now();
    return partsOf(info, base, early, {
      isOver: () => this.#over,
      isHere: (name) => this.#events.onStage({ name, ms: performance.now() - began }),
      call: (call) => this.#call(call),
    });
  }

  #call(call: (engine: KubetabEngine) => void): void {
    const engine = globalThis.kubetabEngine;
    if (engine) call(guarded(engine, (error) => this.failed(error)));
  }

  /** An exception came out of WebAssembly, in a call or in a timer of Go's: its memory can no longer be trusted. */
  failed(error: unknown): void {
    if (error instanceof DownloadError) {
      this.#die('download', 'The API server could not be downloaded.', error.message);
      return;
    }
    const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    if (!this.#compiled) {
      this.#die('start', 'The API server was downloaded but could not be started.', words);
      return;
    }
    this.#die('crash', 'The API server crashed.', this.#fatal || words);
  }

  /** Ends the program for a restart; nothing is reported of it any more. */
  stop(engine: KubetabEngine | null): void {
    this.#over = true;
    try {
      engine?.close();
    } catch {
      // It is being thrown away: that it could not even close is of no interest.
    }
  }

  async #start(
    module: WebAssembly.Module,
    { parts, later, early, now }: Parts,
    settings: EngineSettings,
    earlier: Earlier,
  ): Promise<void> {
    const go = this.#newGo();
    this.#run = { ...this.#run, from: 'nothing' };
    if (this.#takesOver) this.#journal?.keepFrom('nothing');
    const host = this.#setHost(isDefault(settings) ? '' : JSON.stringify(settings), () => {
      this.#giveBack(earlier);
      this.#offer();
    });
    answerCalls(go, host);
    const { link, put } = partsOnDemand(go, parts, { later });
    const instance = await WebAssembly.instantiate(module, go.importObject);
    link(instance);
    // A start calls all of it. If it cannot be had now, the program asks for it.
    if (!(await early(put))) await now(put);
    if (!this.#over) await go.run(instance);
  }

  /** @returns false when the snapshot turns out not to fit */
  async #resume(
    module: WebAssembly.Module,
    { parts, later, early }: Parts,
    base: URL,
    snapshot: Snapshot,
    earlier: Earlier,
  ): Promise<boolean> {
    const go = this.#newGo();
    const host = this.#setHost('');
    continueClocks(go, snapshot.header);
    answerCalls(go, host);
    const { link, put, bring } = partsOnDemand(go, parts, { later });
    this.#bringSoon = bring;
    const instance = await WebAssembly.instantiate(module, go.importObject);
    link(instance);
    tellCalls(instance, base);
    await early(put);
    if (this.#over) return true;
    this.#events.onStage({ name: 'thaw', ms: 0 });
    try {
      thaw(go, instance, snapshot);
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      notUsed(error);
      this.#keeps = earlier.from !== null;
      return false;
    }
    this.#giveBack(earlier);
    globalThis.kubetabEngine?.thawed();
    return true;
  }

  #giveBack({ entries, isOfOther }: Earlier): void {
    const engine = globalThis.kubetabEngine;
    if (engine) giveBack(engine, isOfOther ? [...entries, ['other', new Uint8Array()]] : entries);
  }

  #newGo(): GoProgram {
    const go = new Go();
    this.#asked = coarseWhileIdle(go);
    go.argv = ['kubetab'];
    go.env = { ...environment };
    new MemoryFiles().install(globalThis);
    go.exit = (code) =>
      this.#die(
        code === 0 ? 'exit' : 'crash',
        code === 0 ? 'The API server ended.' : 'The API server crashed.',
        this.#fatal || this.#output.lastPanic() || `The Go program exited with code ${code}.`,
      );
    return go;
  }

  /** Lets requests in. */
  #offer(): void {
    const engine = globalThis.kubetabEngine;
    if (this.#over || !engine || this.#offered) return;
    this.#offered = true;
    const guard = guarded(engine, (e) => this.failed(e));
    this.#events.onEngine({
      ...guard,
      request: (...args) => {
        this.#asked();
        guard.request(...args);
      },
    });
  }

  /** @param onStarted when the program starts from nothing; one that goes on takes no requests before it is ready */
  #setHost(config: string, onStarted: () => void = () => undefined): KubetabHost {
    const requests = this.#requests;
    const alive = () => !this.#over;
    globalThis.kubetabEngine = undefined;
    const host: KubetabHost = {
      config,
      started: onStarted,
      stage: (name, ms) => {
        if (!alive()) return;
        if (name === 'ready') {
          this.#offer();
          setTimeout(() => {
            if (alive()) this.#bringSoon();
          }, SOON_AFTER);
        }
        this.#events.onStage({ name, ms });
      },
      head: (id, status, headers) => {
        if (alive()) requests.head(id, status, headers);
      },
      chunk: (id, bytes) => {
        if (alive()) requests.chunk(id, bytes);
      },
      end: (id) => {
        if (alive()) requests.end(id);
      },
      abort: (id, message) => {
        if (alive()) requests.abort(id, message);
      },
      pull: (id) => {
        if (alive()) requests.pull(id);
      },
      keep: this.#keeps
        ? (name, record, superseded) => {
            if (alive()) this.#journal?.keep(name, record, superseded);
          }
        : null,
      notKept: (why) => {
        if (!alive()) return;
        if (this.#takesOver) this.#notTaken();
        else this.#journal?.stop();
        this.#run = { ...this.#run, cluster: 'new', notKept: why };
        console.warn(
          `kubetab: what was kept of the cluster cannot be used, and is left as it is: ${why}`,
        );
      },
      takenOver: (left) => {
        if (!alive()) return;
        const leftOut = left === '' ? [] : left.split('\n');
        const isForgotten = this.#journal?.takenOver(leftOut.length === 0) ?? false;
        const otherBuilds = this.#run.otherBuilds - (isForgotten ? 1 : 0);
        this.#run = { ...this.#run, leftOut, otherBuilds };
      },
      fatal: (message) => {
        this.#fatal ||= message;
      },
    };
    globalThis.kubetabHost = host;
    return host;
  }

  /** What another build has left is of no use to this one: a cluster begins here, and is kept beside it. */
  #notTaken(): void {
    this.#takesOver = false;
    this.#journal?.refused();
    this.#journal?.keepFrom(this.#run.from);
  }

  #die(cause: Dead['cause'], what: string, why: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#events.onDead({ phase: 'dead', cause, what, why, output: this.#output.text() });
  }
}

/** Tells the site what the program calls, for make profile: only a module made for it has marks. */
function tellCalls(instance: WebAssembly.Instance, base: URL): void {
  const called = noteCalls(instance);
  if (!called) return;
  setInterval(() => {
    void fetch(new URL('called', base), { method: 'POST', body: JSON.stringify(called()) });
  }, EVERY);
}

/**
 * Milliseconds from the engine's readiness until what comes soon is fetched, unless a function of it is called before: the first
 * line of the terminal needs none of it, and would share the processor with what unpacks and compiles it.
 */
const SOON_AFTER = 1500;

const NOTHING: Earlier = { settings: {}, from: null, entries: [], isOfOther: false, others: 0 };

/** Whether an engine of this build has been here before: the browser then has the files of the build. */
function hasVisited({ entries, isOfOther }: Earlier): boolean {
  return !isOfOther && entries.some(([name]) => name !== BUNDLE);
}

/** Calls into Go that throw mean that the program is broken, wherever the call came from. */
function guarded(engine: KubetabEngine, onThrow: (error: unknown) => void): KubetabEngine {
  const guard = <A extends unknown[], R>(call: (...args: A) => R, otherwise: R) => {
    return (...args: A): R => {
      try {
        return call(...args);
      } catch (error) {
        onThrow(error);
        return otherwise;
      }
    };
  };
  return {
    request: guard(engine.request, undefined),
    body: guard(engine.body, undefined),
    credit: guard(engine.credit, undefined),
    cancel: guard(engine.cancel, undefined),
    stats: guard(engine.stats, ''),
    close: guard(engine.close, undefined),
    kept: guard(engine.kept, undefined),
    thawed: guard(engine.thawed, undefined),
    arrived: guard(engine.arrived, undefined),
    missing: guard(engine.missing, undefined),
  };
}

function missingFeature(): string | null {
  if (typeof WebAssembly !== 'object') return 'It has no WebAssembly, or it is turned off.';
  if (typeof WebAssembly.compileStreaming !== 'function') {
    return 'It cannot compile WebAssembly while it arrives; a version of the last four years can.';
  }
  return null;
}
