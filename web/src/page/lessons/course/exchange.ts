import type { Record as RequestRecord } from '../../../answers/requestlog';
import type { Entered } from '../../terminal/shell';

/**
 * Finds the requests in the log that a command has caused. The shell tells each line that is entered, and the log has
 * the time and the client of each request. A request of kubectl, curl or a script that begins after a line and before
 * the next one belongs to that line. Two lines within the slack share what lies between them.
 */

/** The message with a line may come so much later than the first request of its command, in ms. */
const SLACK = 300;
const TERMINAL = new Set(['kubectl', 'curl', 'terminal']);
const LEARNERS = new Set([...TERMINAL, 'console', 'editor', 'page', 'script']);
/** A line that runs a script. */
const RUNS_SCRIPT = /(^|[;&|])\s*node\s/;

/** Made by the learner: by a command, in the console, in the editor or in a script. */
function isLearners({ internal, from, path }: RequestRecord): boolean {
  return !internal && !path.startsWith('/kubetab/') && LEARNERS.has(from);
}

/**
 * The requests in a log that a block of a lesson's text has caused, oldest first.
 *
 * @param text a script of the shell, or for the language `http` a request
 * @param entries the lines that were entered, oldest first
 */
export function exchangesOf(
  text: string,
  language: string,
  all: readonly RequestRecord[],
  entries: readonly Entered[],
): readonly RequestRecord[] {
  if (language === 'http') {
    const { method, path } = requestOf(text);
    return all.filter((r) => isLearners(r) && r.method === method && r.path === path).slice(-1);
  }
  const wanted = new Set(commandsOf(text));
  const at = entries.findLastIndex(({ line }) => commandsOf(line).some((each) => wanted.has(each)));
  const entry = entries[at];
  if (!entry) return [];
  const until = entries[at + 1]?.at ?? Number.POSITIVE_INFINITY;
  // A script in the background goes on while other lines are entered, and its requests are not theirs.
  const runsScript = RUNS_SCRIPT.test(entry.line);
  const isOfLine = (from: string) => TERMINAL.has(from) || (runsScript && from === 'script');
  return all.filter(
    ({ from, internal, begin }) =>
      !internal && isOfLine(from) && begin >= entry.at - SLACK && begin < until - SLACK,
  );
}

/** The lines of a script, without comments and spaces at their ends. */
function commandsOf(script: string): string[] {
  return script
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** A request as a lesson writes it: method and path, headers, an empty line, a body. */
export interface Written {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: string;
}

export function requestOf(text: string): Written {
  const [head = '', ...rest] = text.trimEnd().split(/\n\s*\n/);
  const [first = '', ...fields] = head.trim().split('\n');
  const [method = 'GET', path = '/'] = first.trim().split(/\s+/);
  const headers = fields.flatMap((field) => {
    const colon = field.indexOf(':');
    if (colon < 1) return [];
    return [{ name: field.slice(0, colon).trim(), value: field.slice(colon + 1).trim() }];
  });
  return { method: method.toUpperCase(), path, headers, body: rest.join('\n\n') };
}
