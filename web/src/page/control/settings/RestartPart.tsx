import { useSignal } from '@preact/signals';
import type { Restart } from '../../../protocol';
import { ready, restartEngine, scope } from '../../engine/cluster';
import { CopyButton } from '../../parts/Copy';
import { words as frameWords } from '../../words';
import { CLUSTERS, type Prepared, preparing, startPrepared } from '../clusters/prepared';
import { words } from '../words';
import { changed, draft, refusalOf, running } from './engine-settings';
import { spell } from './settings-text';

/** The one way to other settings, to an empty cluster, and back. */
export function RestartPart() {
  const text = words.restart;
  const objects = useSignal<Restart['objects'] | Prepared>('kept');
  const asking = useSignal(false);
  const refusal = useSignal('');
  const restart = async () => {
    refusal.value = '';
    asking.value = true;
    const settings = draft.value;
    try {
      // A dead engine cannot be asked; what it would have refused is then taken back by its successor.
      refusal.value = ready.value ? await refusalOf(settings) : '';
      if (refusal.value) return;
      const from = objects.value;
      if (from === 'kept' || from === 'none') restartEngine(from, settings);
      else void startPrepared(from, settings);
    } catch (error) {
      refusal.value = error instanceof Error ? error.message : String(error);
    } finally {
      asking.value = false;
    }
  };
  const query = spell(draft.value);
  return (
    <section class="part wide" aria-label={text.title}>
      <h2>{text.title}</h2>
      <p class="about">{text.about}</p>
      {(['kept', 'none', ...CLUSTERS] as const).map((each) => {
        const [name, about] =
          each === 'kept'
            ? text.kept
            : each === 'none'
              ? text.empty
              : [frameWords.cluster.prepared[each], words.prepared.sets[each][0]];
        return (
          <label class="choice" key={each}>
            <input
              type="radio"
              name="objects"
              checked={objects.value === each}
              onChange={() => {
                objects.value = each;
              }}
            />
            <span>
              <b>{name}</b>
              <span class="faint">{about}</span>
            </span>
          </label>
        );
      })}
      {changed.value && (
        <p class="setting-note" role="status">
          {text.pending} {query && text.slow}
        </p>
      )}
      {refusal.value && (
        <div class="setting-note is-bad" role="alert">
          <b>{text.refusal}</b>
          <pre translate={false}>{refusal.value}</pre>
        </div>
      )}
      <Failures />
      <p class="clock-buttons">
        <button
          type="button"
          class={`button ${changed.value ? 'primary' : ''}`}
          disabled={asking.value}
          onClick={() => void restart()}
        >
          {asking.value ? text.restarting : text.restart}
        </button>
        {changed.value && (
          <button
            type="button"
            class="button quiet"
            onClick={() => {
              draft.value = running.value ?? {};
            }}
          >
            {text.discard}
          </button>
        )}
        {query && <CopyButton label={text.copy} text={() => `${scope.href}?${query}`} />}
      </p>
    </section>
  );
}

/** What of the last prepared cluster could not be applied. */
function Failures() {
  const failures = preparing.value?.failures ?? [];
  if (failures.length === 0) return null;
  return (
    <div class="setting-note is-bad" role="alert">
      <b>{words.prepared.failures}</b>
      <ul>
        {failures.map(({ what, why }) => (
          <li key={what} translate={false}>
            {`${what}: ${why}`}
          </li>
        ))}
      </ul>
    </div>
  );
}
