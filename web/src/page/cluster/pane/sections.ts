import { idOf, isCustom, type Kind } from '../kinds';

/** A group of kinds in the list on the left, in the order in which a person looks for them. */
export interface Section {
  readonly id: SectionId;
  readonly kinds: readonly Kind[];
}

const OWN = {
  workloads: [
    'pods',
    'deployments.apps',
    'replicasets.apps',
    'statefulsets.apps',
    'daemonsets.apps',
    'jobs.batch',
    'cronjobs.batch',
    'horizontalpodautoscalers.autoscaling',
  ],
  network: [
    'services',
    'endpointslices.discovery.k8s.io',
    'ingresses.networking.k8s.io',
    'networkpolicies.networking.k8s.io',
  ],
  config: ['configmaps', 'secrets', 'resourcequotas', 'limitranges', 'poddisruptionbudgets.policy'],
  cluster: ['nodes', 'namespaces', 'events'],
  storage: [
    'persistentvolumeclaims',
    'persistentvolumes',
    'storageclasses.storage.k8s.io',
    'volumeattachments.storage.k8s.io',
    'csinodes.storage.k8s.io',
    'csidrivers.storage.k8s.io',
  ],
  access: [
    'serviceaccounts',
    'roles.rbac.authorization.k8s.io',
    'rolebindings.rbac.authorization.k8s.io',
    'clusterroles.rbac.authorization.k8s.io',
    'clusterrolebindings.rbac.authorization.k8s.io',
  ],
} as const;

export type SectionId = keyof typeof OWN | 'custom' | 'other';

/** Open from the start; the others are counted when they are opened, so that the page holds few watches. */
export const OPEN_FIRST: readonly SectionId[] = [
  'workloads',
  'network',
  'config',
  'cluster',
  'custom',
];

/** The same as events, kept twice by the API. */
const HIDDEN = new Set(['events.events.k8s.io', 'componentstatuses']);

export function sectionsOf(all: readonly Kind[]): readonly Section[] {
  const byId = new Map(all.map((kind) => [idOf(kind), kind]));
  const sections: Section[] = [];
  for (const [id, names] of Object.entries(OWN)) {
    const found = names.flatMap((name) => byId.get(name) ?? []);
    for (const name of names) byId.delete(name);
    sections.push({ id: id as SectionId, kinds: found });
  }
  const rest = [...byId.values()].filter((kind) => !HIDDEN.has(idOf(kind)));
  rest.sort((a, b) => a.kind.localeCompare(b.kind));
  const definitions = rest.filter((kind) => kind.resource === 'customresourcedefinitions');
  const custom = rest.filter(isCustom);
  const other = rest.filter((kind) => !definitions.includes(kind) && !custom.includes(kind));
  sections.push(
    { id: 'custom', kinds: [...definitions, ...custom] },
    { id: 'other', kinds: other },
  );
  return sections.filter((section) => section.kinds.length > 0);
}
