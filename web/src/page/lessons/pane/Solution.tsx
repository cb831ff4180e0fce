import type { Lesson, Step } from '../../../answers/lessons';
import { restartWith, runsWith, untilRunsWith } from '../course/engine';
import { play, playing, stopPlaying } from '../course/player';
import { note, progressOf } from '../course/progress';
import { runHere } from '../text/Block';
import { words } from '../words';
import { canRestart, StepEngine } from './StepEngine';

/** A way to do the step, for who asks for it: a line at a time, or played. */
export function Solution({ lesson, step }: { lesson: Lesson; step: Step }) {
  const key = `${lesson.id} ${step.id}`;
  const isPlaying = playing.value === key;
  const lines = step.solution;
  const shown = Math.min(progressOf(lesson.id).shown[step.id] ?? 0, lines.length);
  if (lines.length === 0) return null;
  const show = (n: number) => {
    const kept = progressOf(lesson.id).shown;
    note(lesson.id, { shown: { ...kept, [step.id]: n } });
  };
  const playAll = async () => {
    if (step.engine && !runsWith(step.engine)) {
      // The step itself says why not.
      const isRefused = await restartWith(step.engine).catch(() => true);
      if (isRefused || !(await untilRunsWith(step.engine))) return;
    }
    await putSolutionFiles(lesson);
    await play(key, lines, (i) => {
      if (i >= (progressOf(lesson.id).shown[step.id] ?? 0)) show(i + 1);
    });
  };
  return (
    <details class="solution" key={step.id} open={shown > 0}>
      <summary>{words.solution.summary}</summary>
      <p class="faint">{words.solution.about}</p>
      {step.challenge && step.engine && shown > 0 && <StepEngine wanted={step.engine} />}
      <ol>
        {lines.slice(0, shown).map((line, i) => (
          <li key={i}>
            <pre
              translate={false}
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
              tabIndex={0}
            >
              {line.trimEnd()}
            </pre>
            <button
              type="button"
              class="link"
              onClick={() => void putSolutionFiles(lesson).then(() => runHere(line))}
            >
              {words.block.run}
            </button>
          </li>
        ))}
      </ol>
      <p class="solution-buttons">
        {shown < lines.length && !isPlaying && (
          <button type="button" class="link" onClick={() => show(shown + 1)}>
            {shown === 0 ? words.solution.first : words.solution.next}
          </button>
        )}
        {isPlaying ? (
          <>
            <span class="faint" role="status">
              {words.solution.playing}
            </span>
            <button type="button" class="link" onClick={() => stopPlaying()}>
              {words.solution.stop}
            </button>
          </>
        ) : (
          <button
            type="button"
            class="link"
            disabled={Boolean(step.engine) && !canRestart()}
            onClick={() => void playAll()}
          >
            {words.solution.play}
          </button>
        )}
      </p>
    </details>
  );
}

/** A file that cannot be put is missed by the command that reads it, which says so. */
async function putSolutionFiles({ solutionFiles = {} }: Lesson): Promise<void> {
  if (Object.keys(solutionFiles).length === 0) return;
  const { putMissingFiles } = await import('../course/files');
  await putMissingFiles(solutionFiles).catch(() => []);
}
