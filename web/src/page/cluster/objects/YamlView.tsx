import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { Code } from '../../editor/Code';
import type { LineNote } from '../../editor/code-types';
import { ask, refused } from '../../engine/ask';
import { CopyButton } from '../../parts/Copy';
import { loadYaml, STYLE } from '../../parts/yaml';
import { type Kind, objectPath } from '../kinds';
import type { KubeObject } from '../object';
import { words } from '../words';
import { COLOURS, managersOf, ownersByLine } from './field-owners';

/** The object as it is; with the owners of its fields; and to be changed. */
export function YamlView({ kind, object }: { kind: Kind; object: KubeObject }) {
  const text = useSignal('');
  const showOwners = useSignal(false);
  const notes = useSignal<ReadonlyMap<number, LineNote>>(NONE);
  const edited = useSignal<string | null>(null);
  const began = useSignal('');
  const refusal = useSignal('');
  const managers = useMemo(() => managersOf(object.metadata.managedFields ?? []), [object]);
  useEffect(() => {
    let gone = false;
    void loadYaml().then(async ({ stringify }) => {
      const shown = stringify(object, STYLE);
      const found = showOwners.value
        ? await ownersByLine(shown, object.metadata.managedFields ?? [])
        : NONE;
      if (gone) return;
      text.value = shown;
      notes.value = found;
    });
    return () => {
      gone = true;
    };
  }, [object, showOwners.value]);

  async function edit(): Promise<void> {
    const { stringify } = await loadYaml();
    const { managedFields: _, ...metadata } = object.metadata;
    edited.value = stringify({ ...object, metadata }, STYLE);
    began.value = object.metadata.resourceVersion ?? '';
    refusal.value = '';
  }

  async function save(): Promise<void> {
    refusal.value = await put(kind, object, edited.value ?? '');
    if (refusal.value === '') edited.value = null;
  }

  const changed = edited.value !== null && began.value !== object.metadata.resourceVersion;
  return (
    <div class="yaml-view">
      <div class="toolbar">
        {edited.value === null ? (
          <>
            <label class="toggle" title={words.object.ownersTitle}>
              <input
                type="checkbox"
                checked={showOwners.value}
                onChange={(event) => {
                  showOwners.value = event.currentTarget.checked;
                }}
              />
              {words.object.fieldOwners}
            </label>
            <span class="toolbar-end">
              <CopyButton label={words.object.copy} text={() => text.value} />
              {kind.verbs.includes('update') && (
                <button type="button" class="button small" onClick={() => void edit()}>
                  {words.object.edit}
                </button>
              )}
            </span>
          </>
        ) : (
          <>
            {changed && <span class="tone-warn">{words.object.changed}</span>}
            <span class="toolbar-end">
              <button type="button" class="button small primary" onClick={() => void save()}>
                {words.object.save}
              </button>
              <button
                type="button"
                class="button small"
                onClick={() => {
                  edited.value = null;
                  refusal.value = '';
                }}
              >
                {words.object.cancel}
              </button>
            </span>
          </>
        )}
      </div>
      {showOwners.value && edited.value === null && <Legend managers={managers} />}
      {refusal.value && (
        <p class="refusal" role="alert">
          {words.actions.refused} <span translate={false}>{refusal.value}</span>
        </p>
      )}
      {edited.value === null ? (
        <Code
          key="read"
          text={text.value}
          language="yaml"
          readOnly
          label={words.object.yaml}
          notes={notes.value}
        />
      ) : (
        <Code
          key="edit"
          text={edited.value}
          language="yaml"
          readOnly={false}
          label={words.object.yaml}
          onChange={(next) => {
            edited.value = next;
          }}
        />
      )}
    </div>
  );
}

/** @returns why the API server has refused it; nothing where it has not */
async function put(kind: Kind, { metadata }: KubeObject, body: string): Promise<string> {
  const path = objectPath(kind, metadata.namespace ?? '', metadata.name);
  const response = await ask('view', `${path}?fieldManager=kubetab-page`, {
    method: 'PUT',
    headers: [['Content-Type', 'application/yaml']],
    body,
  });
  const answer = await response.text();
  return response.ok ? '' : refused(response.status, answer).message;
}

/** The colours of the field managers. */
function Legend({ managers }: { managers: readonly string[] }) {
  return (
    <ul class="owners-legend" translate={false}>
      {managers.map((manager, i) => (
        <li key={manager}>
          <span class={`swatch owner-${Math.min(i, COLOURS - 1)}`} aria-hidden="true" />
          {manager}
        </li>
      ))}
    </ul>
  );
}

const NONE: ReadonlyMap<number, LineNote> = new Map();
