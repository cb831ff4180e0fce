import type { ApiClient } from '../client';

/** What lines of shell have done. */
export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export interface RunOptions {
  /** Ends what runs. */
  readonly signal?: AbortSignal;
  /** Of the terminal's kubeconfig, such as `viewer`; its current one when this is missing. */
  readonly context?: string;
}

/** @throws Error in the engine's words when it refuses to run anything, and the signal's reason */
export async function run(
  api: ApiClient,
  command: string,
  { signal, context = '' }: RunOptions = {},
): Promise<CommandResult> {
  const answer = await api.request('/kubetab/run', {
    method: 'POST',
    body: JSON.stringify({ command, context }),
    ...(signal && { signal }),
  });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return (await answer.json()) as CommandResult;
}

/** A text as the input of a command, whatever is in it. */
export function heredoc(text: string): string {
  let end = 'EOF';
  while (text.split('\n').includes(end)) end += '_';
  return `<<'${end}'\n${text.replace(/\n?$/, '\n')}${end}\n`;
}
