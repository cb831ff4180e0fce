import { words } from '../words';
import { engineState, restartEngine } from './cluster';
import { words as engineWords } from './words';

/** The engine is dead: what happened, why, what to do, and all that it said. */
export function EngineTrouble() {
  const state = engineState.value;
  if (state?.phase !== 'dead') return null;
  return (
    <section class="trouble" role="alert">
      <h2>{words.dead.what[state.cause]}</h2>
      <p class="why" translate={false}>
        {engineWords.said(state.why)}
      </p>
      <p>{words.dead.next[state.cause]}</p>
      <p>
        <button type="button" class="button primary" onClick={() => restartEngine('kept')}>
          {words.dead.again}
        </button>{' '}
        <button type="button" class="button" onClick={() => restartEngine('none')}>
          {words.dead.anew}
        </button>
      </p>
      {state.output && (
        <details>
          <summary>{words.dead.output}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
          <pre tabIndex={0} translate={false}>
            {state.output}
          </pre>
        </details>
      )}
    </section>
  );
}
