import { useMemo } from 'preact/hooks';
import { moment } from '../../language/figures';
import { now } from '../clock';
import { findKind, objectPath } from '../kinds';
import {
  age,
  type Condition,
  type KubeObject,
  type Pod,
  type Service,
  type Workload,
} from '../object';
import { useObjects } from '../use-watch';
import { words } from '../words';
import { type Related, relatedTo } from './related';

/** What one looks for first: conditions, containers, what belongs to it, what happened to it. */
export function Overview({ object }: { object: KubeObject }) {
  const { labels, annotations } = object.metadata;
  const conditions = (object as { status?: { conditions?: unknown } }).status?.conditions;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="overview" tabIndex={0} aria-label={words.object.tabs.overview}>
      {object.kind === 'Pod' && <Containers pod={object as Pod} />}
      {Array.isArray(conditions) && conditions.length > 0 && (
        <Conditions conditions={conditions as readonly Condition[]} />
      )}
      <RelatedList object={object} />
      <Pairs title={words.object.labels} pairs={labels} />
      <Pairs title={words.object.annotations} pairs={annotations} />
      <Events object={object} />
    </section>
  );
}

function Containers({ pod }: { pod: Pod }) {
  const statuses = pod.status?.containerStatuses ?? [];
  return (
    <>
      <h3>{words.object.containers}</h3>
      <ul class="lines-list">
        {(pod.spec?.containers ?? []).map(({ name, image }) => {
          const status = statuses.find((each) => each.name === name);
          const reason = status?.state?.waiting?.reason ?? status?.state?.terminated?.reason;
          const { ready, notReady } = words.object;
          const text = reason ?? (status?.ready ? ready : notReady);
          const tone = status?.ready
            ? 'tone-good'
            : /Completed/.test(text)
              ? 'tone-done'
              : 'tone-warn';
          return (
            <li key={name}>
              <span class="line-name" translate={false}>
                {name}
              </span>
              <span class={tone} translate={!reason}>
                {text}
              </span>
              {status?.restartCount ? (
                <span>{words.object.restarts(status.restartCount)}</span>
              ) : null}
              <code class="faint">{image}</code>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function Conditions({ conditions }: { conditions: readonly Condition[] }) {
  return (
    <>
      <h3>{words.object.conditions}</h3>
      <ul class="lines-list">
        {conditions.map(({ type, status, reason, message, lastTransitionTime }) => (
          <li key={type}>
            <span class="line-name" translate={false}>
              {type}
            </span>
            <span
              class={status === 'True' ? 'tone-good' : status === 'False' ? 'tone-warn' : ''}
              translate={false}
            >
              {status}
            </span>
            <span class="faint" title={moment(lastTransitionTime)}>
              {age(lastTransitionTime, now.value)}
            </span>
            <span class="line-rest" translate={false}>
              {reason}
              {message && <span class="faint"> {message}</span>}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function RelatedList({ object }: { object: KubeObject }) {
  const inside = object.metadata.namespace ? `/namespaces/${object.metadata.namespace}` : '';
  const scoped = inside !== '' || object.kind === 'Node';
  const pods = useObjects<Pod>(scoped ? `/api/v1${inside}/pods` : null);
  const services = useObjects<Service>(inside ? `/api/v1${inside}/services` : null);
  const slices = useObjects<KubeObject>(
    inside ? `/apis/discovery.k8s.io/v1${inside}/endpointslices` : null,
  );
  const deployments = useObjects<Workload>(inside ? `/apis/apps/v1${inside}/deployments` : null);
  const replicaSets = useObjects<Workload>(inside ? `/apis/apps/v1${inside}/replicasets` : null);
  const jobs = useObjects<Workload>(inside ? `/apis/batch/v1${inside}/jobs` : null);
  const all = [pods, services, slices, deployments, replicaSets, jobs];
  const version = all.reduce((sum, snapshot) => sum + snapshot.version, 0);
  const related = useMemo(
    () =>
      relatedTo(object, {
        pods: [...pods.items.values()],
        services: [...services.items.values()],
        slices: [...slices.items.values()],
        workloads: [deployments, replicaSets, jobs].flatMap(({ items }) => [...items.values()]),
      }),
    [object, version],
  );
  return (
    <>
      <h3>{words.object.related}</h3>
      {related.length === 0 && <p class="faint">{words.object.noRelated}</p>}
      <ul class="lines-list">
        {related.slice(0, MOST).map((each) => (
          <li key={`${each.relation} ${each.resource} ${each.namespace}/${each.name}`}>
            <span class="line-name faint">{words.object.relations[each.relation]}</span>
            <span class="line-kind" translate={false}>
              {each.kind}
            </span>
            <ObjectLink related={each} />
          </li>
        ))}
        {related.length > MOST && <li class="faint">{words.object.more(related.length - MOST)}</li>}
      </ul>
    </>
  );
}

const MOST = 100;

function ObjectLink({ related }: { related: Related }) {
  const kind = findKind(related.group, related.resource);
  if (!kind) return <span translate={false}>{related.name}</span>;
  return (
    <a
      class="object-name"
      translate={false}
      href={`#cluster${objectPath(kind, related.namespace, related.name)}`}
    >
      {related.name}
    </a>
  );
}

function Pairs({
  title,
  pairs,
}: {
  title: string;
  pairs: Readonly<Record<string, string>> | undefined;
}) {
  const entries = Object.entries(pairs ?? {});
  if (entries.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="pairs" translate={false}>
        {entries.map(([key, value]) => (
          <li key={key} title={value}>
            <span class="faint">{key}</span> {value}
          </li>
        ))}
      </ul>
    </>
  );
}

interface ClusterEvent extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly series?: { readonly count?: number };
  readonly lastTimestamp?: string;
  readonly eventTime?: string;
}

function Events({ object }: { object: KubeObject }) {
  const { uid = '', namespace = 'default' } = object.metadata;
  const selector = encodeURIComponent(
    `involvedObject.uid=${object.kind === 'Node' ? object.metadata.name : uid}`,
  );
  const { items } = useObjects<ClusterEvent>(
    `/api/v1/namespaces/${namespace}/events?fieldSelector=${selector}`,
  );
  const last = (event: ClusterEvent) =>
    event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? '';
  const events = [...items.values()].sort((a, b) => last(b).localeCompare(last(a)));
  return (
    <>
      <h3>{words.object.events}</h3>
      {events.length === 0 && <p class="faint">{words.object.noEvents}</p>}
      <ul class="lines-list">
        {events.map((event) => (
          <li key={event.metadata.uid} class="fresh">
            <span class="faint line-age" title={moment(last(event))}>
              {age(last(event), now.value)}
            </span>
            <span class={event.type === 'Warning' ? 'tone-warn' : ''} translate={false}>
              {event.reason}
            </span>
            <span class="line-rest" translate={false}>
              {event.message} {words.object.eventTimes(event.series?.count ?? event.count ?? 1)}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
