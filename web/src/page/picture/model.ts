import {
  type KubeObject,
  type Node,
  type Phase,
  type Pod,
  phaseOf,
  type Service,
  selects,
  type Workload,
} from '../cluster/object';
import { order } from '../parts/order';

/** What the picture is drawn from: whole collections, of one namespace or all. */
export interface ClusterObjects {
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly services: readonly Service[];
  /** Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs. */
  readonly workloads: readonly Workload[];
}

/** An owner at the top of its chain - a Deployment and not its ReplicaSet - with all Pods below it. */
export interface Owner {
  readonly uid: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly name: string;
  /** How many Pods it wants, where it says so. */
  readonly wanted: number | null;
  readonly pods: readonly string[];
  /** What stands between it and its Pods: the ReplicaSets of a Deployment that have Pods or want some. */
  readonly through: readonly { readonly name: string; readonly pods: number }[];
}

export interface PicturePod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly phase: Phase;
  readonly ready: boolean;
  /** One for each container: whether it is ready. */
  readonly containers: readonly boolean[];
  readonly owner: string;
  readonly pod: Pod;
}

/** A node, or with an empty name the Pods that have none yet. */
export interface Lane {
  readonly name: string;
  readonly ready: boolean;
  readonly cordoned: boolean;
  readonly pods: readonly PicturePod[];
}

export interface PictureService {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  /** Pods that it selects; it sends requests to those that are ready. */
  readonly pods: readonly string[];
}

export interface Picture {
  readonly owners: readonly Owner[];
  readonly lanes: readonly Lane[];
  readonly services: readonly PictureService[];
  readonly podCount: number;
}

/** A Pod that has not changed is the same thing in the next picture: what has not changed is not drawn again. */
const known = new WeakMap<Pod, PicturePod>();

export function pictureOf({ nodes, pods, services, workloads }: ClusterObjects): Picture {
  const byUid = new Map(workloads.map((workload) => [workload.metadata.uid ?? '', workload]));
  const top = (object: KubeObject): { root: Workload | null; below: Workload | null } => {
    let below: Workload | null = null;
    let root: Workload | null = null;
    let next = controllerOf(object);
    // A chain is Pod, ReplicaSet, Deployment at most; a loop would be somebody's mistake.
    for (let steps = 0; next && steps < 5; steps++) {
      const owner = byUid.get(next);
      if (!owner) break;
      below = root;
      root = owner;
      next = controllerOf(owner);
    }
    return { root, below };
  };

  const ownedPods = new Map<string, string[]>();
  const through = new Map<string, Map<string, number>>();
  const drawn = pods.map((pod): PicturePod => {
    const uid = pod.metadata.uid ?? '';
    const { root, below } = top(pod);
    const owner = root?.metadata.uid ?? '';
    if (root) {
      push(ownedPods, owner, uid);
      if (below) {
        const counts = through.get(owner) ?? new Map<string, number>();
        counts.set(below.metadata.name, (counts.get(below.metadata.name) ?? 0) + 1);
        through.set(owner, counts);
      }
    }
    const before = known.get(pod);
    if (before?.owner === owner) return before;
    const statuses = pod.status?.containerStatuses;
    const shown: PicturePod = {
      uid,
      namespace: pod.metadata.namespace ?? '',
      name: pod.metadata.name,
      phase: phaseOf(pod),
      ready:
        pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false,
      containers: (pod.spec?.containers ?? []).map(
        ({ name }) => statuses?.find((status) => status.name === name)?.ready ?? false,
      ),
      owner,
      pod,
    };
    known.set(pod, shown);
    return shown;
  });
  drawn.sort((a, b) => order.compare(a.owner, b.owner) || order.compare(a.name, b.name));

  const owners = workloads
    .filter((workload) => !byUid.has(controllerOf(workload) ?? ''))
    // Old ReplicaSets and finished Jobs of nobody's stay in the table; here they would only be noise. A Deployment that is
    // scaled to none is not.
    .filter(
      (workload) =>
        (workload.kind !== 'ReplicaSet' && workload.kind !== 'Job') ||
        ownedPods.has(workload.metadata.uid ?? '') ||
        wantedBy(workload) !== 0,
    )
    .map(
      (workload): Owner => ({
        uid: workload.metadata.uid ?? '',
        kind: workload.kind ?? '',
        apiVersion: workload.apiVersion ?? '',
        namespace: workload.metadata.namespace ?? '',
        name: workload.metadata.name,
        wanted: isFinished(workload) ? null : wantedBy(workload),
        pods: ownedPods.get(workload.metadata.uid ?? '') ?? [],
        through: [...(through.get(workload.metadata.uid ?? '') ?? [])].map(([name, count]) => ({
          name,
          pods: count,
        })),
      }),
    )
    .sort((a, b) => order.compare(a.namespace, b.namespace) || order.compare(a.name, b.name));

  return {
    owners,
    lanes: lanesOf(nodes, drawn),
    services: servicesOf(services, drawn),
    podCount: pods.length,
  };
}

function servicesOf(services: readonly Service[], drawn: readonly PicturePod[]): PictureService[] {
  return services
    .map((service) => ({
      uid: service.metadata.uid ?? '',
      namespace: service.metadata.namespace ?? '',
      name: service.metadata.name,
      type: service.spec?.type ?? '',
      pods: drawn
        .filter(
          ({ pod, namespace }) =>
            namespace === service.metadata.namespace &&
            selects(service.spec?.selector, pod.metadata.labels),
        )
        .map(({ uid }) => uid),
    }))
    .sort((a, b) => order.compare(a.namespace, b.namespace) || order.compare(a.name, b.name));
}

function lanesOf(nodes: readonly Node[], pods: readonly PicturePod[]): Lane[] {
  const onNode = new Map<string, PicturePod[]>();
  for (const pod of pods) push(onNode, pod.pod.spec?.nodeName ?? '', pod);
  const lanes = nodes.map((node): Lane => {
    const { name } = node.metadata;
    const found = onNode.get(name) ?? [];
    onNode.delete(name);
    const conditions = node.status?.conditions ?? [];
    return {
      name,
      ready: conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
      cordoned: node.spec?.unschedulable === true,
      pods: found,
    };
  });
  lanes.sort((a, b) => order.compare(a.name, b.name));
  const homeless = onNode.get('') ?? [];
  onNode.delete('');
  // Nodes that are gone while their Pods are still there.
  for (const [name, found] of onNode)
    lanes.push({ name, ready: false, cordoned: false, pods: found });
  if (homeless.length > 0) {
    lanes.unshift({ name: '', ready: false, cordoned: false, pods: homeless });
  }
  return lanes;
}

function controllerOf({ metadata }: KubeObject): string | null {
  return metadata.ownerReferences?.find(({ controller }) => controller)?.uid ?? null;
}

function wantedBy(workload: Workload): number | null {
  const { kind, spec, status } = workload;
  if (kind === 'DaemonSet') return status?.desiredNumberScheduled ?? null;
  if (kind === 'Job') return isFinished(workload) ? 0 : (spec?.completions ?? 1);
  if (kind === 'CronJob') return null;
  return spec?.replicas ?? 1;
}

/** A Job that is done wants no Pods, and is not short of any. */
function isFinished({ kind, status }: Workload): boolean {
  return kind === 'Job' && (status?.conditions?.some(done) ?? false);
}

const done = ({ type, status }: { type: string; status: string }) =>
  status === 'True' && (type === 'Complete' || type === 'Failed');

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
