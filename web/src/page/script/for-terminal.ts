import type { Script } from '../../answers/shell';
import { directApi } from '../engine/cluster';
import { startScript } from './start';

/** Of one message to the engine, in characters. */
const LONGEST = 200_000;

/**
 * Runs the script that a command of the terminal (node) waits for, and prints there. The script ends with the command,
 * and the command with the page.
 */
export async function runForTerminal(token: string): Promise<void> {
  const api = directApi();
  if (!api) return;
  const way = `/kubetab/scripts/${encodeURIComponent(token)}`;
  const answer = await api.request(way).catch(() => null);
  // Another page has it, or the command has ended.
  if (!answer?.ok) return;
  const { name, text } = (await answer.json()) as Script;
  const gone = new AbortController();
  const command = await api.request(`${way}/end`, { signal: gone.signal });

  let waiting = { stdout: '', stderr: '' };
  let code: number | null = null;
  let sending = false;
  const send = async () => {
    if (sending) return;
    sending = true;
    while (waiting.stdout || waiting.stderr || code !== null) {
      const { stdout, stderr } = waiting;
      waiting = { stdout: stdout.slice(LONGEST), stderr: stderr.slice(LONGEST) };
      const isLast = !waiting.stdout && !waiting.stderr && code !== null;
      const body = JSON.stringify({
        stdout: stdout.slice(0, LONGEST),
        stderr: stderr.slice(0, LONGEST),
        ...(isLast && { code }),
      });
      if (isLast) code = null;
      const sent = await api.request(way, { method: 'POST', body }).catch(() => null);
      await sent?.body?.cancel();
      if (!sent?.ok) {
        gone.abort(); // nobody waits any more
        return;
      }
    }
    sending = false;
  };
  const stop = startScript(name, text, {
    onOutput(lines, left) {
      for (const line of lines) {
        waiting[line.level === 'log' ? 'stdout' : 'stderr'] += `${line.text}\n`;
      }
      if (left > 0) waiting.stderr += `... ${left}\n`;
      void send();
    },
    onEnd(failed) {
      code = failed ? 1 : 0;
      void send();
    },
  });
  try {
    await command.text();
  } catch {
    // The engine is gone.
  }
  stop();
}
