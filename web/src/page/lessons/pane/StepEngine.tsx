import { useSignal } from '@preact/signals';
import type { EngineSettings } from '../../../protocol';
import { go } from '../../frame/route';
import { flagsOf, restartWith, run, runsWith } from '../course/engine';
import { state, trouble } from '../course/follow';
import { words } from '../words';

/** Whether the lesson has begun: until then its engine may still be started with what the lesson begins with. */
export function canRestart(): boolean {
  return run.value !== null && (state.value?.ready === true || trouble.value !== null);
}

/** What a step asks of the engine, and the way there; the learner may take the one by the settings as well. */
export function StepEngine({ wanted }: { wanted: EngineSettings }) {
  const text = words.engine;
  const asking = useSignal(false);
  const refusal = useSignal('');
  const isSo = runsWith(wanted);
  const restart = async () => {
    asking.value = true;
    try {
      refusal.value = await restartWith(wanted);
    } catch (error) {
      refusal.value = error instanceof Error ? error.message : String(error);
    } finally {
      asking.value = false;
    }
  };
  return (
    <section class="step-engine" aria-label={text.label}>
      <p class="eyebrow">{text.label}</p>
      <pre
        translate={false}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {flagsOf(wanted).join('\n') || text.usual}
      </pre>
      {refusal.value && !isSo && (
        <div class="hint" role="alert">
          <b>{text.refused}</b>
          <pre translate={false}>{refusal.value}</pre>
        </div>
      )}
      <p role="status">{isSo ? text.runs : run.value ? text.about : text.starting}</p>
      {!isSo && (
        <p class="step-engine-ways">
          <button
            type="button"
            class="button small primary"
            disabled={asking.value || !canRestart()}
            onClick={() => void restart()}
          >
            {text.restart}
          </button>
          <button type="button" class="link" onClick={() => go('settings')}>
            {text.settings}
          </button>
        </p>
      )}
    </section>
  );
}
