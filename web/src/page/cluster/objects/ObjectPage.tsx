import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { ago, moment } from '../../language/figures';
import { Cut } from '../../parts/CutName';
import { Tabs } from '../../parts/Tabs';
import { now } from '../clock';
import { collectionPath, idOf, type Kind } from '../kinds';
import { age, type KubeObject, type Pod, phaseOf } from '../object';
import { Reading } from '../Reading';
import { useObjects } from '../use-watch';
import { words } from '../words';
import { ActionBar } from './ActionBar';
import { Logs } from './Logs';
import { Overview } from './Overview';
import { YamlView } from './YamlView';

type View = 'overview' | 'yaml' | 'logs';

interface ObjectPageProps {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

/** One object: what it says, what belongs to it, what happened to it, and what can be done. */
export function ObjectPage({ kind, namespace, name }: ObjectPageProps) {
  const chosen = useSignal<View>('overview');
  const selector = `fieldSelector=${encodeURIComponent(`metadata.name=${escaped(name)}`)}`;
  const path = `${collectionPath(kind, namespace)}?${selector}`;
  const { items, state, problem } = useObjects<KubeObject>(path);
  const found = items.get(`${namespace}/${name}`) ?? null;
  // What was deleted stays on the screen, and says so.
  const last = useSignal<KubeObject | null>(null);
  if (found && found !== last.peek()) last.value = found;
  const object = useMemo(() => {
    const raw = found ?? last.value;
    // Watches of single objects leave nothing out; only the kind of a list's items would be missing.
    return raw && { ...raw, kind: raw.kind ?? kind.kind };
  }, [found, last.value]);
  if (problem)
    return (
      <p class="refusal" translate={false}>
        {problem}
      </p>
    );
  if (!object) {
    if (state === 'live') return <p class="empty">{words.object.gone}</p>;
    return <Reading state={state} loading={words.object.loading} />;
  }
  const views: View[] = idOf(kind) === 'pods' ? ['overview', 'yaml', 'logs'] : ['overview', 'yaml'];
  const gone = !found && state === 'live';
  return (
    <article class="object" aria-label={words.object.named(kind.kind, name)}>
      <header class="object-head">
        <h2 title={name} aria-label={name} translate={false}>
          <Cut text={name} />
        </h2>
        <State object={object} gone={gone} />
        <span class="faint" title={createdWords(object)}>
          {words.object.age} {age(object.metadata.creationTimestamp, now.value)}
        </span>
      </header>
      {!gone && <ActionBar kind={kind} object={object} />}
      <Tabs
        name="object-view"
        label={words.object.label}
        tabs={views.map((id) => ({ id, label: words.object.tabs[id] }))}
        chosen={chosen.value}
        onChoose={(id) => {
          chosen.value = id as View;
        }}
      />
      <div
        id="object-view-panel"
        class="object-body"
        role="tabpanel"
        aria-labelledby={`object-view-${chosen.value}`}
      >
        {chosen.value === 'overview' && <Overview object={object} />}
        {chosen.value === 'yaml' && <YamlView kind={kind} object={object} />}
        {chosen.value === 'logs' && <Logs pod={object as Pod} />}
      </div>
    </article>
  );
}

/** As k8s.io/apimachinery/pkg/fields.EscapeValue: names of roles may hold what separates selectors. */
function escaped(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

/** When it was made, for a tooltip. */
function createdWords({ metadata: { creationTimestamp } }: KubeObject): string {
  const at = Date.parse(creationTimestamp ?? '');
  return Number.isNaN(at) ? '' : `${moment(creationTimestamp)}, ${ago(at, now.peek())}`;
}

function State({ object, gone }: { object: KubeObject; gone: boolean }) {
  if (gone) return <span class="tone-bad">{words.object.gone}</span>;
  if (object.metadata.deletionTimestamp) {
    return <span class="tone-warn">{words.object.deleting}</span>;
  }
  if (object.kind !== 'Pod') return null;
  const phase = phaseOf(object as Pod);
  return (
    <span class={`phase phase-${phase.toLowerCase()}`} translate={false}>
      {phase}
    </span>
  );
}
