/**
 * The boundary between the Go program and the worker it runs in. Only numbers, strings and bytes cross it, and Go finds
 * both sides by their global names: an idle engine then holds no JavaScript value that could not be found again, which
 * is what allows its memory to be frozen and resumed elsewhere.
 *
 * Request ids are chosen by the host and unique among live requests. After `end`, `abort` or `cancel` an id is free.
 */

/** Implemented here, called by Go: what belongs to requests through wasm/boundary/imports.mjs. None of these may throw. */
export interface KubetabHost {
  /** JSON for the engine's configuration; empty means defaults. */
  readonly config: string;
  /** `globalThis.kubetabEngine` is set: requests may come. What was kept is given back before this returns. */
  started(): void;
  /** A stage is done, `ms` after main() began. The last is `ready`. */
  stage(name: string, ms: number): void;
  /** Status and headers (flat: name, value, name, value ...) as soon as the handler flushes or first writes. */
  head(id: number, status: number, headers: string[]): void;
  /** A piece of the response; the copy belongs to the host. */
  chunk(id: number, bytes: Uint8Array<ArrayBuffer>): void;
  end(id: number): void;
  /** The handler panicked or the response cannot be completed, before or after the head. */
  abort(id: number, message: string): void;
  /** Go has consumed a piece of the request body: the next may be sent. One piece is in flight at most. */
  pull(id: number): void;
  /**
   * The program did something: the record is to be kept under the name, those under the names
   * superseded (separated by spaces) are not needed any more. An empty record is to be forgotten. Null where nothing is
   * kept.
   */
  readonly keep: ((name: string, record: Uint8Array, superseded: string) => void) | null;
  /** What was kept could not be used. Nothing will be kept, unless it was of another build. */
  notKept(why: string): void;
  /** What was kept of another build has been taken over, but for what is left out, a line for each. */
  takenOver(left: string): void;
  /** The Go program is dying. */
  fatal(message: string): void;
}

/** Implemented in Go. No function blocks. */
export interface KubetabEngine {
  /**
   * @param headers name, value, name, value ..., a line each
   * @param body all of it, or whether there is one: the first piece of what follows may be given at once
   * @param window how many bytes of the response there is room for
   */
  request(
    id: number,
    method: string,
    url: string,
    headers: string,
    body: Uint8Array | 'follows' | null,
    window: number,
  ): void;
  /** A piece of the request body; null ends it. */
  body(id: number, bytes: Uint8Array | null): void;
  /** The consumer has room for so many more response bytes. */
  credit(id: number, bytes: number): void;
  /** The consumer is gone: the context of the request is cancelled at once. */
  cancel(id: number): void;
  /** JSON of EngineStats. */
  stats(): string;
  /**
   * What `keep` was given by an earlier program, in one call or several, before `thawed` or while Go calls `started`:
   * names, a line each, the sizes of the records, separated by spaces, and the records one after the other. An entry
   * named `other` says that that program was of another build.
   */
  kept(names: string, sizes: string, records: Uint8Array): void;
  /** Called before anything else when the program goes on from a snapshot; the stage `ready` follows. */
  thawed(): void;
  /** The rest of the module is there: goroutines go on that wait for a function of it. */
  arrived(): void;
  /** The rest could not be had, in a sentence: requests and commands fail that wait for a function of it. */
  missing(why: string): void;
  /** Ends the engine and the program. */
  close(): void;
}

declare global {
  var kubetabHost: KubetabHost | undefined;
  var kubetabEngine: KubetabEngine | undefined;
}
