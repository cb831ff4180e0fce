import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { AuditLevel } from '../../answers/requestlog';
import { Code } from '../editor/Code';
import { askAsAdmin, refused } from '../engine/ask';
import { words } from './words';

/** The levels of an audit policy that core/requestlog takes. */
const LEVELS: readonly AuditLevel['level'][] = ['Metadata', 'Request', 'RequestResponse'];

async function auditLevel(init?: { method: string; body: string }): Promise<string> {
  const answer = await askAsAdmin('control', '/kubetab/requests/audit', init);
  const text = await answer.text();
  if (!answer.ok) throw refused(answer.status, text);
  return (JSON.parse(text) as AuditLevel).level;
}

/** What kube-apiserver's audit log would have of a request, and the level for those to come. */
export function AuditEvents({ text }: { text: string }) {
  const level = useSignal('');
  const trouble = useSignal('');
  const ask = (init?: { method: string; body: string }) =>
    void auditLevel(init)
      .then((answer) => {
        level.value = answer;
        trouble.value = '';
      })
      .catch((error: Error) => {
        trouble.value = error.message;
      });
  useEffect(() => ask(), []);
  return (
    <div class="body-view">
      <div class="note audit-note">
        <span>{words.audit.about}</span>
        {level.value && (
          <label>
            {words.audit.level}{' '}
            <select
              class="field"
              value={level.value}
              onChange={(event) =>
                ask({ method: 'PUT', body: JSON.stringify({ level: event.currentTarget.value }) })
              }
            >
              {LEVELS.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        )}
        {trouble.value && (
          <span class="tone-bad" role="alert" translate={false}>
            {trouble.value}
          </span>
        )}
      </div>
      <Code text={text} language="yaml" readOnly label={words.tabs.audit} />
    </div>
  );
}
