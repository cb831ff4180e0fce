import { words } from './words';

/** What every object has. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1?: unknown;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly containers?: readonly { readonly name: string; readonly image?: string }[];
    readonly initContainers?: readonly { readonly name: string }[];
    readonly volumes?: readonly {
      readonly configMap?: { readonly name?: string };
      readonly secret?: { readonly secretName?: string };
      readonly persistentVolumeClaim?: { readonly claimName?: string };
    }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: {
    readonly running?: object;
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly terminated?: { readonly reason?: string; readonly exitCode?: number };
  };
}

/** A Deployment, ReplicaSet, StatefulSet, DaemonSet or Job, as far as the picture reads them. */
export interface Workload extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly completions?: number;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  };
  readonly status?: {
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly desiredNumberScheduled?: number;
    readonly numberReady?: number;
    readonly succeeded?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly { readonly port: number; readonly protocol?: string }[];
  };
}

export interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** What a Pod is doing, in the word that kubectl would most likely print. */
export type Phase = 'Running' | 'Pending' | 'Succeeded' | 'Failed' | 'Terminating';

export function phaseOf(pod: Pod): Phase {
  if (pod.metadata.deletionTimestamp) return 'Terminating';
  const phase = pod.status?.phase;
  if (phase === 'Succeeded' || phase === 'Failed') return phase;
  const stuck = pod.status?.containerStatuses?.some(({ state }) =>
    /BackOff|Err/.test(state?.waiting?.reason ?? ''),
  );
  if (stuck) return 'Failed';
  return phase === 'Running' ? 'Running' : 'Pending';
}

export function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
}

/** Why a Pod is where it is, in words, for a tooltip. */
export function podWords(pod: Pod): string {
  const lines = [`${pod.metadata.name}: ${phaseOf(pod)}`];
  for (const { name, ready, restartCount, state } of pod.status?.containerStatuses ?? []) {
    const reason = state?.waiting?.reason ?? state?.terminated?.reason;
    const what = reason ?? (ready ? words.object.ready : words.object.notReady);
    const again = restartCount ? `, ${words.object.restarts(restartCount)}` : '';
    lines.push(`${name}: ${what}${again}`);
  }
  for (const { status, reason, message } of pod.status?.conditions ?? []) {
    if (status !== 'True' && (message || reason)) lines.push(message || (reason as string));
  }
  return lines.join('\n');
}

export function selects(
  selector: Readonly<Record<string, string>> | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  const wanted = Object.entries(selector ?? {});
  return wanted.length > 0 && wanted.every(([key, value]) => labels?.[key] === value);
}

/** As k8s.io/apimachinery/pkg/util/duration.HumanDuration. */
export function age(since: string | undefined, now: number): string {
  if (!since) return '';
  const seconds = Math.floor((now - Date.parse(since)) / 1000);
  if (Number.isNaN(seconds)) return '';
  if (seconds < 0) return '0s';
  const and = (big: number, unit: string, small: number, smallUnit: string) =>
    small > 0 ? `${big}${unit}${small}${smallUnit}` : `${big}${unit}`;
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return and(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return and(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return and(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? and(years, 'y', days % 365, 'd') : `${years}y`;
}
