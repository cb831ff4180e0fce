import { kindNamed } from '../kinds';
import { type KubeObject, type Pod, type Service, selects, type Workload } from '../object';

export type Relation = 'owner' | 'owns' | 'selects' | 'selected-by' | 'node' | 'uses' | 'endpoints';

export interface Related {
  readonly relation: Relation;
  readonly kind: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** What there is in the namespace that may be related. */
export interface Neighbours {
  readonly pods: readonly Pod[];
  readonly services: readonly Service[];
  readonly slices: readonly KubeObject[];
  readonly workloads: readonly Workload[];
}

/** Notes an object by its kind and name, and its namespace where that is another one. */
type Add = (
  relation: Relation,
  kind: string,
  group: string,
  resource: string,
  name: string,
  namespace?: string,
) => void;

/** What an object refers to and what refers to it, each once, in the order in which one asks. */
export function relatedTo(object: KubeObject, near: Neighbours): Related[] {
  const { uid, namespace = '', name, labels } = object.metadata;
  const found: Related[] = [];
  const add: Add = (relation, kind, group, resource, to, inside = namespace) =>
    found.push({ relation, kind, group, resource, namespace: inside, name: to });
  addOwners(object, near, add);
  switch (object.kind) {
    case 'Pod': {
      const { spec } = object as Pod;
      if (spec?.nodeName) add('node', 'Node', '', 'nodes', spec.nodeName, '');
      for (const service of near.services) {
        if (selects(service.spec?.selector, labels)) {
          add('selected-by', 'Service', '', 'services', service.metadata.name);
        }
      }
      if (spec?.serviceAccountName) {
        add('uses', 'ServiceAccount', '', 'serviceaccounts', spec.serviceAccountName);
      }
      for (const { configMap, secret, persistentVolumeClaim } of spec?.volumes ?? []) {
        if (configMap?.name) add('uses', 'ConfigMap', '', 'configmaps', configMap.name);
        if (secret?.secretName) add('uses', 'Secret', '', 'secrets', secret.secretName);
        if (persistentVolumeClaim?.claimName) {
          add(
            'uses',
            'PersistentVolumeClaim',
            '',
            'persistentvolumeclaims',
            persistentVolumeClaim.claimName,
          );
        }
      }
      break;
    }
    case 'Service':
      for (const slice of near.slices) {
        const of = slice.metadata.labels?.['kubernetes.io/service-name'];
        const owned = slice.metadata.ownerReferences?.some((owner) => owner.uid === uid);
        if (of === name && !owned) {
          add(
            'endpoints',
            'EndpointSlice',
            'discovery.k8s.io',
            'endpointslices',
            slice.metadata.name,
          );
        }
      }
      addSelected((object as Service).spec?.selector);
      break;
    case 'Deployment':
    case 'StatefulSet':
      addSelected((object as Workload).spec?.selector?.matchLabels);
      break;
    case 'Node':
      for (const pod of near.pods) {
        if (pod.spec?.nodeName === name) {
          add('owns', 'Pod', '', 'pods', pod.metadata.name, pod.metadata.namespace);
        }
      }
      break;
    default:
  }
  return found;

  function addSelected(selector: Readonly<Record<string, string>> | undefined): void {
    for (const pod of near.pods) {
      if (selects(selector, pod.metadata.labels))
        add('selects', 'Pod', '', 'pods', pod.metadata.name);
    }
  }
}

/** The owners of an object, and what it owns. */
function addOwners({ metadata }: KubeObject, near: Neighbours, add: Add): void {
  const { uid, namespace = '' } = metadata;
  for (const owner of metadata.ownerReferences ?? []) {
    const kind = kindNamed(owner.apiVersion, owner.kind);
    if (kind) {
      add(
        'owner',
        kind.kind,
        kind.group,
        kind.resource,
        owner.name,
        kind.namespaced ? namespace : '',
      );
    }
  }
  const everything: readonly KubeObject[] = [...near.workloads, ...near.pods, ...near.slices];
  for (const each of everything) {
    if (!uid || !each.metadata.ownerReferences?.some((owner) => owner.uid === uid)) continue;
    const kind = kindNamed(each.apiVersion ?? '', each.kind ?? '');
    if (kind)
      add(
        'owns',
        kind.kind,
        kind.group,
        kind.resource,
        each.metadata.name,
        each.metadata.namespace,
      );
  }
}
