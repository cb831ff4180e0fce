import type { Result } from '../answers/shell';
import type { ApiClient } from '../client';
import { framesOf } from '../page/engine/frames';

/** What lines of shell have done. */
export type CommandResult = Readonly<Result>;

/** A part of what lines of shell do: one of the fields is there. The exit code is the last one. */
export type Piece = Partial<CommandResult>;

export interface StreamOptions {
  /** Ends what runs, as Ctrl-C does. */
  readonly signal?: AbortSignal;
  /** Of the terminal's kubeconfig, such as `viewer`; its current one when this is missing. */
  readonly context?: string;
}

export interface RunOptions extends StreamOptions {
  /** Called with what is printed, as it is printed. The result has it as well. */
  readonly onOutput?: (piece: Piece) => void;
}

/** What runs commands in a shell. */
export interface Commands {
  /** Runs kubectl with the arguments of a line, with `kubectl` at its beginning or without. */
  kubectl(line: string, options?: RunOptions): Promise<CommandResult>;
  /** Runs lines of shell as the terminal of the workbench does: kubectl, pipes, variables, cat, grep, jq, curl. */
  run(lines: string, options?: RunOptions): Promise<CommandResult>;
  /**
   * As `run`, and what is printed comes as it is printed: `for await (const { stdout, stderr, exitCode } of stream(...))`.
   * The lines begin to run with the loop, and wait where it takes its time. Leaving it ends them, as Ctrl-C does.
   *
   * @throws Error in the engine's words when it refuses to run anything, and the signal's reason
   */
  stream(lines: string, options?: StreamOptions): AsyncGenerator<Piece, void, void>;
  /** As `kubectl apply -f`, of one manifest or several. */
  apply(yaml: string, options?: RunOptions): Promise<CommandResult>;
}

/** A shell that lasts: its folder, variables, functions and background jobs are there for the next command. */
export interface Session extends Commands {
  readonly name: string;
  /** Ends the shell, and what runs in it. The next command begins with a new one. */
  end(): Promise<void>;
}

/** @param session "" gives every command a shell of its own */
export function commands(api: ApiClient, session = ''): Commands {
  async function run(lines: string, options?: RunOptions): Promise<CommandResult> {
    const result = { stdout: '', stderr: '', exitCode: 0 };
    for await (const piece of stream(lines, options)) {
      const { stdout = '', stderr = '', exitCode = 0 } = piece;
      options?.onOutput?.(piece);
      // What a command prints without end is not kept without end.
      if (result.stdout.length < MOST) result.stdout += stdout;
      if (result.stderr.length < MOST) result.stderr += stderr;
      result.exitCode = exitCode;
    }
    return result;
  }

  async function* stream(
    command: string,
    { signal, context = '' }: StreamOptions = {},
  ): AsyncGenerator<Piece, void, void> {
    const answer = await api.request('/kubetab/run', {
      method: 'POST',
      body: JSON.stringify({ command, context, session, stream: true }),
      ...(signal && { signal }),
    });
    if (!answer.ok || !answer.body) throw new Error((await answer.text()).trim());
    let hasEnded = false;
    // Who leaves the loop cancels the body, and the command with it.
    for await (const frame of framesOf(answer.body)) {
      const piece = JSON.parse(frame) as Piece;
      hasEnded ||= piece.exitCode !== undefined;
      yield piece;
    }
    if (!hasEnded) throw new Error('The engine ended before the command did.');
  }

  return {
    run,
    stream,
    kubectl: (line, options) =>
      run(/^\s*kubectl(\s|$)/.test(line) ? line : `kubectl ${line}`, options),
    apply: (yaml, options) => run(`kubectl apply -f - ${heredoc(yaml)}`, options),
  };
}

/** How much of each stream `run` keeps, in characters. */
const MOST = 16 << 20;

/** @throws TypeError for a name that no path can hold */
export function session(api: ApiClient, name: string): Session {
  if (/^\.{0,2}$/.test(name)) throw new TypeError(`A session cannot have the name "${name}".`);
  return {
    ...commands(api, name),
    name,
    async end() {
      const path = `/kubetab/sessions/${encodeURIComponent(name)}`;
      const answer = await api.request(path, { method: 'DELETE' });
      if (!answer.ok) throw new Error((await answer.text()).trim());
    },
  };
}

/** A text as the input of a command, whatever is in it. */
export function heredoc(text: string): string {
  let end = 'EOF';
  while (text.split('\n').includes(end)) end += '_';
  return `<<'${end}'\n${text.replace(/\n?$/, '\n')}${end}\n`;
}

/** Lines that write a file. */
export function written([path, text]: readonly [path: string, text: string]): string {
  const name = `'${path.replaceAll("'", `'\\''`)}'`;
  return `mkdir -p "$(dirname ${name})" && cat > ${name} ${heredoc(text)}`;
}
