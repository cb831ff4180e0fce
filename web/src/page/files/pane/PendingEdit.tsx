import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Code } from '../../editor/Code';
import { askAsAdmin } from '../../engine/ask';
import { finishEdit, type PendingEdit as Pending } from '../../terminal/shell';
import { words } from '../words';

const urlOf = (path: string) =>
  `/kubetab/files${path.split('/').map(encodeURIComponent).join('/')}`;

/** A file that a command in the terminal waits for, as `kubectl edit` does: it goes on when this is closed. */
export function PendingEdit({ edit }: { edit: Pending }) {
  const text = useSignal<string | null>(null);
  const problem = useSignal('');
  useEffect(() => {
    void askAsAdmin('editor', urlOf(edit.path))
      .then(async (answer) => {
        const body = await answer.text();
        if (answer.ok) text.value = body;
        else problem.value = body;
      })
      .catch((error: unknown) => {
        problem.value = String(error);
      });
  }, [edit.token]);
  async function save(): Promise<void> {
    const answer = await askAsAdmin('editor', urlOf(edit.path), {
      method: 'PUT',
      body: text.value ?? '',
    });
    if (answer.ok) await finishEdit(edit.token, true);
    else problem.value = await answer.text();
  }
  return (
    <section class="pending-edit" aria-label={words.edit.title}>
      <div class="toolbar">
        <span>{words.edit.title}</span>
        <span class="toolbar-end">
          <button
            type="button"
            class="button small primary"
            disabled={text.value === null}
            onClick={() => void save()}
          >
            {words.edit.save}
          </button>
          <button
            type="button"
            class="button small"
            onClick={() => void finishEdit(edit.token, false)}
          >
            {words.edit.cancel}
          </button>
        </span>
      </div>
      {problem.value && (
        <p class="refusal" translate={false}>
          {problem.value}
        </p>
      )}
      {text.value !== null && (
        <Code
          text={text.value}
          language="yaml"
          readOnly={false}
          label={edit.path}
          onChange={(changed) => {
            text.value = changed;
          }}
        />
      )}
    </section>
  );
}
