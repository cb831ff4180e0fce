import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { spoken } from '../../frame/spoken';
import { CopyButton } from '../../parts/Copy';
import type { Kind } from '../kinds';
import type { KubeObject } from '../object';
import { words } from '../words';
import { type Action, actionsFor } from './actions';

/** What can be done to an object. Nothing is done before the command that does the same has been shown. */
export function ActionBar({ kind, object }: { kind: Kind; object: KubeObject }) {
  const chosen = useSignal<Action['name'] | null>(null);
  const actions = actionsFor(kind, object);
  const action = actions.find(({ name }) => name === chosen.value);
  return (
    <>
      <fieldset class="action-buttons" aria-label={words.actions.label}>
        {actions.map(({ name }) => (
          <button
            key={name}
            type="button"
            class={`button small ${name === 'delete' ? 'stop' : ''}`}
            aria-expanded={chosen.value === name}
            onClick={() => {
              chosen.value = chosen.value === name ? null : name;
            }}
          >
            {words.actions[name]}
          </button>
        ))}
      </fieldset>
      {action && (
        <Confirm
          key={action.name}
          kind={kind}
          object={object}
          action={action}
          onClose={() => {
            chosen.value = null;
          }}
        />
      )}
    </>
  );
}

interface ConfirmProps {
  readonly kind: Kind;
  readonly object: KubeObject;
  readonly action: Action;
  readonly onClose: () => void;
}

function Confirm({ kind, object, action, onClose }: ConfirmProps) {
  const replicas = useSignal(action.replicas ?? 0);
  const refusal = useSignal('');
  const busy = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('input, button[type="submit"]')?.focus();
  }, []);
  const { actions } = words;
  const command = action.command(replicas.value);
  return (
    <form
      ref={form}
      class="confirm"
      onSubmit={(event) => {
        event.preventDefault();
        busy.value = true;
        refusal.value = '';
        action.run(replicas.value).then(
          () => {
            spoken.value = actions.done(command);
            onClose();
          },
          (error: unknown) => {
            busy.value = false;
            refusal.value = error instanceof Error ? error.message : String(error);
          },
        );
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        onClose();
      }}
    >
      {action.name === 'delete' && <p>{actions.deleteAsk(kind.kind, object.metadata.name)}</p>}
      {action.name === 'restart' && <p>{actions.restartAsk}</p>}
      {action.name === 'scale' && (
        <label class="replicas">
          {actions.replicas}
          <input
            class="field"
            type="number"
            min="0"
            max="10000"
            value={replicas.value}
            onInput={(event) => {
              replicas.value = Math.max(0, Math.floor(Number(event.currentTarget.value) || 0));
            }}
          />
        </label>
      )}
      <p class="same">
        <span class="faint">{actions.same}</span>
        <code>{command}</code>
        <CopyButton label={actions.copy} text={() => command} />
      </p>
      {refusal.value && (
        <p class="refusal" role="alert">
          {actions.refused} <span translate={false}>{refusal.value}</span>
        </p>
      )}
      <p class="confirm-buttons">
        <button
          type="submit"
          class={`button small ${action.name === 'delete' ? 'stop' : 'primary'}`}
          disabled={busy.value}
        >
          {actions.run[action.name]}
        </button>
        <button type="button" class="button small quiet" onClick={onClose}>
          {actions.cancel}
        </button>
      </p>
    </form>
  );
}
