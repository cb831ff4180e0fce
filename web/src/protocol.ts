/**
 * Every message that crosses a thread in Kubetab. Types only: no value is exported here, so that the page, the
 * engine worker and the service worker can never disagree about behaviour by importing different code.
 *
 *   page ───────────── control port ─────────────┐
 *    │ gives a port to                           ▼
 *   service worker ─── control port ──────▶ engine worker (Go, all state)
 *
 * A control port lives as long as its party, and carries all of its requests: what belongs to one bears the number that
 * the party gave it. One port keeps them in order, and what the engine has to say to many of them at once - an event for
 * each of two hundred watches - is one message, and one task in the thread that receives it.
 *
 * The first message on a control port is `Hello`, and its version is compared before anything else is read.
 */

import type { EngineStats } from './answers/boundary';

/** Raised whenever a message changes its meaning. A page and a worker of different versions part with `Refused`. */
export type ProtocolVersion = 6;

/** Name and value as they came: duplicates and their order survive, which a record would lose. */
export type HeaderPair = readonly [name: string, value: string];

/* ------------------------------------------------------------------ control port: a party -> the engine worker */

/** Opens a control port. `lock` is a Web Lock the party holds while it lives; being granted it means the party died. */
export interface Hello {
  readonly type: 'hello';
  readonly protocol: ProtocolVersion;
  readonly role: 'page' | 'service-worker';
  readonly lock: string | null;
}

/** Hands over one end of a new control port, on which another party (the service worker) will say hello. */
export interface Introduce {
  readonly type: 'introduce';
  readonly port: MessagePort;
}

/**
 * One API request. `id` is the party's, and in use until the request has been answered or cancelled: nothing is said of
 * it any more then, on either side. `url` is path and query. `body` is all of the body when it is small. The response may
 * take `window` bytes before it needs credit.
 */
export interface BeginRequest {
  readonly type: 'request';
  readonly id: number;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly HeaderPair[];
  readonly body: Uint8Array<ArrayBuffer> | 'follows' | null;
  readonly window: number;
}

/**
 * Ends the running engine, whatever its state, and starts a new one: with the objects of the old one, or with an empty
 * store. Without settings it has those of the old one, or the defaults if its store is empty. With settings that are
 * not the defaults it starts from nothing: the snapshot was taken with the defaults. Settings that it does not start
 * with are taken back: see `Run.refused`.
 */
export interface Restart {
  readonly type: 'restart';
  readonly settings?: EngineSettings;
  readonly objects: 'kept' | 'none';
}

/** What differs from the defaults; wasm/settings.go says what each means. */
export interface EngineSettings {
  readonly emulatedVersion?: string;
  readonly runtimeConfig?: Readonly<Record<string, string>>;
  readonly featureGates?: Readonly<Record<string, boolean>>;
  readonly nodes?: number;
  readonly controllers?: readonly string[];
  readonly noScheduler?: boolean;
}

/** Deletes what other builds of the page have kept: see `Run.otherBuilds`. */
export interface ForgetOthers {
  readonly type: 'forget-others';
}

export interface AskStats {
  readonly type: 'stats';
  readonly nonce: number;
}

/** Asks for a sign of life: an engine that loops in Go cannot answer. */
export interface Ping {
  readonly type: 'ping';
  readonly nonce: number;
}

/** The party leaves; its open requests are cancelled. A party that dies without it is found through its lock. */
export interface Goodbye {
  readonly type: 'goodbye';
}

export type ToEngine =
  | Hello
  | Introduce
  | BeginRequest
  | ToExchange
  | Restart
  | ForgetOthers
  | AskStats
  | Ping
  | Goodbye;

/* ------------------------------------------------------------------ control port: the engine worker -> a party */

/** Answers `Hello`. `lock` is held while the worker lives. `worker` differs for every worker that ever ran. */
export interface Welcome {
  readonly type: 'welcome';
  readonly protocol: ProtocolVersion;
  readonly worker: string;
  readonly lock: string | null;
  readonly state: EngineState;
}

/** Answers a `Hello` of another version; the port is closed after it. */
export interface Refused {
  readonly type: 'refused';
  readonly protocol: ProtocolVersion;
  /** What else is wrong, in a sentence: of a frame that was asked for what it cannot do. */
  readonly why?: string;
}

export interface StateChanged {
  readonly type: 'state';
  readonly state: EngineState;
}

export interface Stats {
  readonly type: 'stats';
  readonly nonce: number;
  /** Null while there is no engine to ask. */
  readonly stats: EngineStats | null;
}

export interface Pong {
  readonly type: 'pong';
  readonly nonce: number;
}

export type FromEngine = Welcome | Refused | StateChanged | Stats | Pong | Answers;

/* ------------------------------------------------------------------ what an engine can be doing */

/** Bytes are those of the module as it is stored (`loaded` of `total`) and as it travels (`transferTotal`). */
export interface Downloading {
  readonly phase: 'downloading';
  readonly loaded: number;
  readonly total: number;
  readonly transferTotal: number;
}

/**
 * `stage` is the name of the last stage that was finished, or `compile` before the first; `ms` since the worker began.
 * An engine that goes on from a snapshot has the stages `thaw` and `ready` only. `rest` is when the functions were
 * fetched that few programs call, and may come at any time or never.
 */
export interface Starting {
  readonly phase: 'starting';
  readonly stage: string;
  readonly ms: number;
}

export interface Ready {
  readonly phase: 'ready';
  /** From the start of the download until the API was ready. */
  readonly startMs: number;
  readonly downloadMs: number;
  readonly stages: readonly StageTime[];
  readonly run: Run;
  /** Why what happens now is not kept for the next visit; null while it is. */
  readonly unkept: Unkept | null;
}

/**
 * - `full`: the browser has no room. What happens waits in memory, and is kept once there is some.
 * - `failed`: the browser's storage cannot be read or written.
 * - `deleted`: somebody has deleted the storage, as by clearing the data of the site in another tab.
 * - `lost`: the same, and everything is being written again, because it is all in memory.
 *
 * Unless it was deleted, what was kept before is as it was. `why` is in the browser's words.
 */
export interface Unkept {
  readonly cause: 'full' | 'failed' | 'deleted' | 'lost';
  readonly why: string;
}

/** How an engine that is ready came to be. */
export interface Run {
  readonly settings: EngineSettings;
  readonly from: 'snapshot' | 'nothing';
  /** Whether its objects are those of an earlier one. */
  readonly cluster: 'new' | 'kept';
  /** Settings that were asked for last and did not start; this engine has the earlier ones again. */
  readonly refused: { readonly settings: EngineSettings; readonly why: string } | null;
  /** How many clusters are kept that other builds of the page have left. */
  readonly otherBuilds: number;
  /** What this build could not read of another one's cluster that it has taken over; null if it has taken over none. */
  readonly leftOut: readonly string[] | null;
  /**
   * Why what was kept of the cluster is of no use. It is left as it is. If it was this build's own, nothing is kept any
   * more; beside that of another build, the new cluster is.
   */
  readonly notKept: string | null;
}

/** `what` happened, `why` in one sentence, and all that the program printed before its end. */
export interface Dead {
  readonly phase: 'dead';
  /** `worker` and `gone` are the page's own: it could not start the worker, or has lost it. */
  readonly cause: 'worker' | 'gone' | 'download' | 'start' | 'unsupported' | 'crash' | 'exit';
  readonly what: string;
  readonly why: string;
  readonly output: string;
}

export type EngineState = Downloading | Starting | Ready | Dead;

export interface StageTime {
  readonly name: string;
  readonly ms: number;
}

/* ------------------------------------------------------------------ what belongs to one request */

/** A piece of the request body. The next may follow after `Pull`. The buffer is transferred: it is the receiver's. */
export interface BodyChunk {
  readonly type: 'body';
  readonly id: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface BodyEnd {
  readonly type: 'body-end';
  readonly id: number;
}

/** The consumer has room for this many more bytes of response. */
export interface Credit {
  readonly type: 'credit';
  readonly id: number;
  readonly bytes: number;
}

/** The consumer is gone. The engine ends the request at once; nothing follows in either direction. */
export interface Cancel {
  readonly type: 'cancel';
  readonly id: number;
}

export type ToExchange = BodyChunk | BodyEnd | Credit | Cancel;

/** Status and headers, as soon as the handler flushes or writes: long before a watch has its first event. */
export interface Head {
  readonly type: 'head';
  readonly id: number;
  readonly status: number;
  readonly headers: readonly HeaderPair[];
}

/** A piece of the response; its buffer is the receiver's. */
export interface Chunk {
  readonly type: 'chunk';
  readonly id: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface End {
  readonly type: 'end';
  readonly id: number;
}

/** Takes the place of `Head`, `Chunk` and `End` for a response that was complete in one turn of the engine. */
export interface Whole {
  readonly type: 'whole';
  readonly id: number;
  readonly status: number;
  readonly headers: readonly HeaderPair[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The response cannot be completed: the handler panicked or the engine died. */
export interface Failed {
  readonly type: 'failed';
  readonly id: number;
  readonly message: string;
}

/** The engine has taken the last `BodyChunk`. */
export interface Pull {
  readonly type: 'pull';
  readonly id: number;
}

export type FromExchange = Head | Chunk | End | Whole | Failed | Pull;

/** What the engine has to say at one time, in its order. */
export interface Answers {
  readonly type: 'answers';
  readonly answers: readonly FromExchange[];
}

/* ------------------------------------------------------------------ a page of any site -> embed.html, and its worker */

/** What an engine begins with that keeps nothing beyond its worker. */
export interface Beginning {
  readonly settings?: EngineSettings;
  /** A file as docs/bundle.md describes it. Its settings count where `settings` is missing. */
  readonly bundle?: Uint8Array<ArrayBuffer>;
}

/** The first message to the worker of such an engine, on no port. Control ports follow in the same way. */
export interface BeginAlone extends Beginning {
  readonly type: 'begin';
}

/**
 * Hands a control port to a frame with embed.html, whose engine then says welcome on it. With `beginning`, the engine
 * begins now; a frame whose engine has begun refuses it. Anybody may frame embed.html, and who frames it may do anything
 * to its engine: there is nothing in it that the framing page has not put there.
 */
export interface Connect {
  readonly type: 'kubetab-connect';
  readonly protocol: ProtocolVersion;
  readonly beginning?: Beginning;
}

/** Gives a frame that waits for it a control port to an engine somewhere else, whose cluster it then shows. */
export interface Show {
  readonly type: 'kubetab-show';
  readonly protocol: ProtocolVersion;
}

/** Asks a frame to say again that it is there. */
export interface AskFrame {
  readonly type: 'kubetab-ask';
}

/** `Connect` and `Show` carry one port. */
export type ToFrame = Connect | Show | AskFrame;

/** A frame is there and can be connected to. */
export interface FrameReady {
  readonly type: 'kubetab-frame';
  readonly protocol: ProtocolVersion;
}

/** A frame cannot do what it is for: its scripts or its worker could not be loaded. */
export interface FrameFailed {
  readonly type: 'kubetab-failed';
  readonly why: string;
}

export type FromFrame = FrameReady | FrameFailed;

/* ------------------------------------------------------------------ page <-> service worker */

/** The service worker does not know the page's cluster, or has lost its port to the engine of that, and asks for one. */
export interface WantEngine {
  readonly type: 'want-engine';
}

/** How many responses the service worker is streaming. While there are any, pages keep it awake. */
export interface OpenStreams {
  readonly type: 'open-streams';
  readonly count: number;
}

export type FromServiceWorker = WantEngine | OpenStreams;

/**
 * One end of a control port to the engine, for the service worker to say hello on. `cluster` is the one that the page is
 * in as long as it lives: the page's requests go to no other.
 */
export interface EnginePort {
  readonly type: 'engine-port';
  readonly cluster: string;
  readonly port: MessagePort;
}

/** Resets the idle timer of the service worker; answered with `OpenStreams`. */
export interface KeepAwake {
  readonly type: 'keep-awake';
}

/** Asks to be controlled: a page that was hard-reloaded starts without the service worker. */
export interface ClaimMe {
  readonly type: 'claim-me';
}

/** A waiting version of the service worker may take over. Sent only when the user agreed to reload every tab. */
export interface TakeOver {
  readonly type: 'take-over';
}

/** The engine has started: the line is free for the files of the page, of which a copy may be kept. */
export interface KeepPage {
  readonly type: 'keep-page';
}

/** The engine has started: a compressed copy of its module may be kept for offline use. */
export interface KeepModule {
  readonly type: 'keep-module';
}

export type ToServiceWorker = EnginePort | KeepAwake | ClaimMe | TakeOver | KeepPage | KeepModule;

/* ------------------------------------------------------------------ BroadcastChannel of journalChannel */

/**
 * The engine worker of a cluster shall write what it still has to keep, and end. Nobody may be using it. `folder` is that
 * of the cluster, here and below: see engine/journal/database.ts.
 */
export interface EndEngine {
  readonly type: 'end';
  readonly folder: string;
}

/** The engine worker of a cluster shall write what it still has to keep, and answer. */
export interface Flush {
  readonly type: 'flush';
  readonly folder: string;
  readonly nonce: string;
}

export interface Flushed {
  readonly type: 'flushed';
  readonly nonce: string;
}

/** Something was deleted: an engine whose storage was full may try again. */
export interface HasRoom {
  readonly type: 'has-room';
}

export type JournalMessage = EndEngine | Flush | Flushed | HasRoom;
