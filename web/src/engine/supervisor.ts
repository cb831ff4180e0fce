import type { EngineStats } from '../answers/boundary';
import type {
  BeginRequest,
  Dead,
  EngineSettings,
  EngineState,
  Restart,
  Run,
  StageTime,
  ToExchange,
  Unkept,
} from '../protocol';
import { folderOf } from './journal/database';
import { answerPages } from './journal/journal-channel';
import type { MemoryJournal } from './journal/memory-journal';
import { StoredJournal } from './journal/stored-journal';
import type { ModuleInfo } from './module';
import type { Outbox } from './outbox';
import { Program } from './program';
import { answerUnavailable, Requests } from './requests';
import type { KubetabEngine } from './seam';
import { isDefault } from './settings';

/** How long an engine with other settings may take until it is ready, in ms: some stop it from ever being so. */
const PATIENCE = 120_000;

/** Whether other settings could make a difference. */
function isOfSettings({ cause }: Dead): boolean {
  return cause === 'crash' || cause === 'exit';
}

function overdueWords(output: string): string {
  const last = output.trim().split('\n').slice(-3).join('\n');
  return `It was not ready after ${PATIENCE / 1000} seconds.${last && ` Its last words: ${last}`}`;
}

/**
 * The one engine of this worker: starts it, knows its state, passes requests to it, and restarts it when asked to.
 */
export class Supervisor {
  /** Called on every change. Progress of the download is limited to a few calls per second. */
  onState: (state: EngineState) => void = () => undefined;

  readonly #info: ModuleInfo;
  readonly #base: URL;
  readonly #requests = new Requests(() => this.#journal?.caughtUp() ?? null);
  readonly #journal: StoredJournal | MemoryJournal | null;
  #program: Program | null = null;
  #engine: KubetabEngine | null = null;
  #state: EngineState;
  /** Settings that an engine was ready with, to go back to when it does not start with others; null if none was yet. */
  #proven: EngineSettings | null = {};
  #refused: Run['refused'] = null;
  #unkept: Unkept | null = null;
  /** Why an engine could not live with the cluster of another build, if it could not. */
  #left: string | null = null;
  #restarts = 0;
  #overdue: ReturnType<typeof setTimeout> | undefined;

  /** @param of the cluster of this browser that it is the engine of, or what stands for one that is not kept */
  constructor(
    info: ModuleInfo,
    base: URL,
    of: { readonly cluster: string } | { readonly journal: MemoryJournal },
  ) {
    this.#info = info;
    this.#base = base;
    if ('journal' in of) {
      this.#journal = of.journal;
      // Who asked for the settings asked for nothing else.
      this.#proven = null;
      this.#state = this.#fresh();
      return;
    }
    const folder = folderOf(base.pathname, of.cluster);
    const journal = info.snapshot ? new StoredJournal(folder + info.snapshot.url) : null;
    this.#journal = journal;
    this.#state = this.#fresh();
    if (journal) this.#follow(journal, folder);
  }

  #follow(journal: StoredJournal, folder: string): void {
    journal.onUnkept = (unkept) => {
      this.#unkept = unkept;
      if (this.#state.phase === 'ready') this.#set({ ...this.#state, unkept });
    };
    answerPages(journal, this.#base.pathname, folder, () => this.#program?.stop(this.#engine));
  }

  get state(): EngineState {
    return this.#state;
  }

  start(settings?: EngineSettings): void {
    const began = performance.now();
    let downloadMs = 0;
    let lastReport = 0;
    const stages: StageTime[] = [];
    const program = new Program(this.#requests, this.#journal, {
      onBytes: (loaded, total, transferTotal) => {
        const now = performance.now();
        if (loaded < total && now - lastReport < 80) return;
        lastReport = now;
        downloadMs = now - began;
        this.#set({ phase: 'downloading', loaded, total, transferTotal });
      },
      onEngine: (engine) => {
        this.#engine = engine;
      },
      onStage: (stage) => {
        if (stage.name === 'compile') {
          this.#overdue = setTimeout(() => {
            this.#takeBack(program, overdueWords(program.output));
          }, PATIENCE);
        }
        stages.push(stage);
        const ms = performance.now() - began;
        if (stage.name === 'ready') {
          clearTimeout(this.#overdue);
          const { origin } = program;
          const run = { ...origin, refused: this.#refused, notKept: origin.notKept ?? this.#left };
          this.#proven = run.settings;
          this.#journal?.keepSettings(run.settings);
          this.#set({ phase: 'ready', startMs: ms, downloadMs, stages, run, unkept: this.#unkept });
        } else if (this.#state.phase === 'ready') {
          this.#set({ ...this.#state, stages: [...stages] });
        } else {
          this.#set({ phase: 'starting', stage: stage.name, ms });
        }
      },
      onDead: (dead) => {
        if (!isOfSettings(dead)) this.#died(dead);
        else if (!this.#takeBack(program, dead.why) && !this.#leave(program, dead.why))
          this.#died(dead);
      },
    });
    this.#program = program;
    this.#set({ ...this.#fresh() });
    void program.run(this.#info, this.#base, settings);
  }

  /** See `Restart`. */
  restart(objects: Restart['objects'], settings?: EngineSettings): void {
    this.#refused = null;
    this.#left = null;
    this.end();
    const wanted = settings ?? (objects === 'none' ? {} : undefined);
    const forgotten = objects === 'none' ? this.#journal?.clear() : undefined;
    const mine = ++this.#restarts;
    void Promise.resolve(forgotten).then(() => {
      if (mine !== this.#restarts) return; // another one was asked for meanwhile
      this.start(wanted);
    });
  }

  /** Settings that an engine did not start with: back to the last that one did. Returns false where there are none. */
  #takeBack(program: Program, why: string): boolean {
    const { settings } = program.origin;
    if (!this.#proven || isDefault(settings) || program !== this.#program) return false;
    if (this.#state.phase !== 'starting') return false; // it is not for the settings
    this.#refused = { settings, why };
    this.end();
    this.start(this.#proven);
    return true;
  }

  /** A cluster of another build that an engine did not start with: it is left as it is, and one begins without it. */
  #leave(program: Program, why: string): boolean {
    if (!program.takesOver || program !== this.#program || this.#state.phase !== 'starting')
      return false;
    this.#left = why;
    this.#journal?.ignoreOthers();
    this.end();
    this.start({});
    return true;
  }

  /** See `ForgetOthers`. */
  async forgetOthers(): Promise<void> {
    const otherBuilds = (await this.#journal?.forgetOthers().catch(() => undefined)) ?? 0;
    const state = this.#state;
    if (state.phase === 'ready') this.#set({ ...state, run: { ...state.run, otherBuilds } });
  }

  /** Resolves when what the engine gave to keep is kept, or cannot be. */
  async caughtUp(): Promise<void> {
    await this.#journal?.caughtUp();
  }

  /** Ends the engine. Its objects stay where they are kept. */
  end(): void {
    clearTimeout(this.#overdue);
    this.#program?.stop(this.#engine);
    this.#engine = null;
    this.#requests.failAll('The API server was restarted.');
    this.#set(this.#fresh());
  }

  request(message: BeginRequest, outbox: Outbox): void {
    if (this.#engine) {
      this.#requests.begin(this.#engine, message, outbox);
    } else if (this.#state.phase === 'dead') {
      answerUnavailable(message, outbox, `${this.#state.what} ${this.#state.why}`, 30);
    } else {
      answerUnavailable(message, outbox, 'The API server is still starting.', 1);
    }
  }

  /** What a party says of a request that it has begun. */
  tell(message: ToExchange, outbox: Outbox): void {
    this.#requests.tell(message, outbox);
  }

  /** A party is gone: what it asked for is no longer wanted. */
  forget(outbox: Outbox): void {
    this.#requests.cancelAllOf(outbox);
  }

  stats(): EngineStats | null {
    const json = this.#engine?.stats();
    return json ? (JSON.parse(json) as EngineStats) : null;
  }

  /**
   * An error that nobody caught. Go's timers run outside of any call of ours: what they throw - a trap, or the error of a
   * function that Go called - arrives here and means that the program is broken.
   *
   * @returns whether it came from Go; if not, it is a defect of this worker
   */
  uncaught(error: unknown): boolean {
    // A timer that was set by a program which has ended since: wasm_exec.js has no way to take it back.
    if (error instanceof Error && error.message === 'Go program has already exited') return true;
    const fromGo =
      error instanceof WebAssembly.RuntimeError ||
      error instanceof RangeError ||
      (error instanceof Error && /wasm/.test(error.stack ?? ''));
    if (fromGo) this.#program?.failed(error);
    return fromGo;
  }

  #died(dead: Dead): void {
    this.#engine = null;
    this.#set(dead);
    this.#requests.failAll(`${dead.what} ${dead.why}`);
  }

  #fresh(): EngineState {
    const { snapshot } = this.#info;
    const files = snapshot ? [this.#info, snapshot] : [this.#info];
    return {
      phase: 'downloading',
      loaded: 0,
      total: files.reduce((sum, file) => sum + file.bytes, 0),
      transferTotal: files.reduce((sum, file) => sum + (file.br ?? file.gzip ?? file.bytes), 0),
    };
  }

  #set(state: EngineState): void {
    this.#state = state;
    this.onState(state);
  }
}
