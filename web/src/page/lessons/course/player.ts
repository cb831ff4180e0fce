import { signal } from '@preact/signals';
import { focusTerminal } from '../../frame/focus-terminal';
import { runInTerminal } from '../../terminal/shell';

/** The step whose solution is played in the terminal, as `lesson step`; empty for none. */
export const playing = signal('');

/** Runs lines one after another, each when the one before has ended. It goes on while another view is shown. */
export async function play(
  of: string,
  lines: readonly string[],
  onLine: (i: number) => void,
): Promise<void> {
  playing.value = of;
  focusTerminal();
  for (const [i, line] of lines.entries()) {
    if (playing.value !== of) return;
    onLine(i);
    await runInTerminal(line);
  }
  if (playing.value === of) playing.value = '';
}

/** No further line is run; the one that runs goes on. */
export function stopPlaying(): void {
  playing.value = '';
}
