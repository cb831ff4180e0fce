import type { HeaderPair } from '../protocol';

/** From the page to the worker of a script. */
export type ToScript =
  /** First: a control port to the engine, and the site's folder, under which the API lies. */
  | { readonly type: 'begin'; readonly port: MessagePort; readonly scope: string }
  /** The headers of whoever the page acts as, at the beginning and after each change. */
  | { readonly type: 'identity'; readonly headers: readonly HeaderPair[] };

/** From the worker of a script to the page. */
export type FromScript =
  /** What the script has printed. `left` lines that came too fast are not among them. */
  | { readonly type: 'output'; readonly lines: readonly OutputLine[]; readonly left: number }
  /** Nothing can happen any more: the script has run to its end, or has thrown. */
  | { readonly type: 'ended'; readonly failed: boolean };

export interface OutputLine {
  readonly level: 'log' | 'warn' | 'error';
  readonly text: string;
  /** Line of the script where an error was not caught; 0 when nobody knows, or for what was printed. */
  readonly line: number;
}
