import { askJson } from '../../engine/ask';
import { idOf, isCustom, type Kind, objectPath } from '../kinds';
import type { KubeObject, Node, Workload } from '../object';

export type ActionName =
  | 'scale'
  | 'restart'
  | 'cordon'
  | 'uncordon'
  | 'suspend'
  | 'resume'
  | 'delete';

/** Something that can be done to an object, with the kubectl command that does the same. */
export interface Action {
  readonly name: ActionName;
  /** For `scale`: what it is now. */
  readonly replicas?: number;
  command(replicas: number): string;
  run(replicas: number): Promise<unknown>;
}

const MANAGER = 'fieldManager=kubetab-page';

/** What can be done to an object of this kind, as its resource allows. */
export function actionsFor(kind: Kind, object: KubeObject): Action[] {
  const { name, namespace = '' } = object.metadata;
  const path = objectPath(kind, namespace, name);
  const place = kind.namespaced ? ` -n ${namespace}` : '';
  const target = `${singular(kind)}/${name}`;
  const patch = (body: unknown, part = '') =>
    askJson('view', `${path}${part}?${MANAGER}`, {
      method: 'PATCH',
      headers: [['Content-Type', 'application/merge-patch+json']],
      body: JSON.stringify(body),
    });
  const actions: Action[] = [];
  if (kind.subresources.includes('scale')) {
    actions.push({
      name: 'scale',
      replicas: (object as Workload).spec?.replicas ?? 1,
      command: (replicas) => `kubectl scale ${target} --replicas=${replicas}${place}`,
      run: (replicas) => patch({ spec: { replicas } }, '/scale'),
    });
  }
  if (kind.group === 'apps' && /^(deployments|statefulsets|daemonsets)$/.test(kind.resource)) {
    actions.push({
      name: 'restart',
      command: () => `kubectl rollout restart ${target}${place}`,
      // As kubectl does it: a new annotation makes a new template.
      run: () => {
        const annotations = { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() };
        return patch({ spec: { template: { metadata: { annotations } } } });
      },
    });
  }
  if (idOf(kind) === 'nodes') {
    const cordoned = (object as Node).spec?.unschedulable === true;
    actions.push({
      name: cordoned ? 'uncordon' : 'cordon',
      command: () => `kubectl ${cordoned ? 'uncordon' : 'cordon'} ${name}`,
      run: () => patch({ spec: { unschedulable: cordoned ? null : true } }),
    });
  }
  if (kind.group === 'batch') {
    const suspended = (object as { spec?: { suspend?: boolean } }).spec?.suspend === true;
    const merge = JSON.stringify({ spec: { suspend: !suspended } });
    actions.push({
      name: suspended ? 'resume' : 'suspend',
      command: () => `kubectl patch ${target}${place} --type=merge -p '${merge}'`,
      run: () => patch({ spec: { suspend: !suspended } }),
    });
  }
  if (kind.verbs.includes('delete')) {
    actions.push({
      name: 'delete',
      command: () => `kubectl delete ${target}${place}`,
      run: () => askJson('view', path, { method: 'DELETE' }),
    });
  }
  return actions;
}

/** The name that kubectl takes for a kind: short for Kubernetes' own, with its group otherwise. */
export function singular(kind: Kind): string {
  const word = kind.kind.toLowerCase();
  return isCustom(kind) ? `${word}.${kind.group}` : word;
}
