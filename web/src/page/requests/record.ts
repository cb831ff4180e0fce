/** One request as the engine's log tells it (core/requestlog.Record). */
export interface RequestRecord {
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly begin: number;
  /** What made it: a part of the page, `kubectl`, `page` for any other script, or a component inside the engine. */
  readonly from: string;
  readonly internal?: boolean;
  /** The kubectl command, such as `kubectl get`. */
  readonly command?: string;
  readonly method: string;
  readonly path: string;
  readonly verb?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user?: string;
  /** Who asked to be `user`, with impersonation. */
  readonly impersonator?: string;
  readonly status?: number;
  readonly contentType?: string;
  readonly headMs?: number;
  /** Until now, or until its end. */
  readonly ms: number;
  readonly requestBytes?: number;
  readonly bytes?: number;
  /** Of a watch: how many events have been sent. */
  readonly watch?: boolean;
  readonly events?: number;
  readonly done?: boolean;
  /** Why it ended before its answer was complete. */
  readonly broken?: string;
}
