import './script.css';
import { active } from '../files/workspace/workspace';
import { isAlive, runFile, runs, stopFile } from './runs';
import { words } from './words';

/** What can be done with a script. */
export function ScriptButtons() {
  const file = active.value;
  if (!file) return null;
  const { path, text } = file;
  const run = runs.value.get(path);
  const alive = isAlive(run);
  return (
    <>
      <button
        type="button"
        class="button small primary"
        title={alive ? words.againTitle : words.runTitle}
        onClick={() => runFile(path, text)}
      >
        {alive ? words.again : words.run}
      </button>
      <button
        type="button"
        class="button small"
        title={words.stopTitle}
        disabled={!alive}
        onClick={() => stopFile(path)}
      >
        {words.stop}
      </button>
      {run && (
        <span class={`script-phase ${run.phase === 'failed' ? 'is-failed' : 'faint'}`}>
          {words.phases[run.phase]}
        </span>
      )}
    </>
  );
}
