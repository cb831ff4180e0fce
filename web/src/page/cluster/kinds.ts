import { computed, signal } from '@preact/signals';
import { askAsAdmin } from '../engine/ask';
import { ready } from '../engine/cluster';
import { mayShow } from '../engine/first-moments';
import { once } from '../parts/once';
import { hold, metadata } from './watch';

/** A resource that can be listed and watched. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly subresources: readonly string[];
}

interface Discovery {
  readonly items: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind?: string };
        readonly scope: string;
        readonly verbs: readonly string[];
        readonly shortNames?: readonly string[];
        readonly subresources?: readonly { readonly subresource: string }[];
      }[];
    }[];
  }[];
}

/** All kinds of the cluster, each in the version its group prefers. Empty until discovery has answered. */
export const kinds = signal<readonly Kind[]>([]);
/** Groups that came with a CustomResourceDefinition: whose name is not one of Kubernetes' own. */
export const customKinds = computed(() => kinds.value.filter(isCustom));

export function isCustom({ group }: Pick<Kind, 'group'>): boolean {
  return group.includes('.') && !group.endsWith('.k8s.io');
}

export function idOf({ group, resource }: Kind): string {
  return group ? `${resource}.${group}` : resource;
}

export function findKind(group: string, resource: string): Kind | null {
  return kinds.value.find((k) => k.group === group && k.resource === resource) ?? null;
}

/** Of an object as owner references and events name it. */
export function kindNamed(apiVersion: string, kind: string): Kind | null {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  return kinds.value.find((k) => k.group === group && k.kind === kind) ?? null;
}

/** The path of a collection; of one namespace, or of all of them with an empty name. */
export function collectionPath({ group, version, resource, namespaced }: Kind, namespace: string) {
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`;
  const inside = namespaced && namespace ? `/namespaces/${namespace}` : '';
  return `${root}${inside}/${resource}`;
}

export function objectPath(kind: Kind, namespace: string, name: string): string {
  return `${collectionPath(kind, namespace)}/${encodeURIComponent(name)}`;
}

/** Milliseconds from a change to the first question, and the most between two. */
const SOON = 400;
const SELDOM = 5000;
/** Milliseconds after which a definition is taken for one that will not be served: its names are another's, say. */
const PATIENCE = 60_000;

/** Asks discovery now, and again whenever a CustomResourceDefinition or an aggregated API comes, changes or goes. */
export const followKinds = once(() => {
  const definitions = hold('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', metadata())
    .watch.snapshot;
  const services = hold('/apis/apiregistration.k8s.io/v1/apiservices', metadata()).watch.snapshot;
  const defined = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let changed = 0;

  // Discovery follows the definition by a moment, which is long where the machine is busy.
  const askIn = (pause: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (pause > SOON && !isBehind()) return;
      void askKinds();
      if (performance.now() - changed < PATIENCE) askIn(Math.min(2 * pause, SELDOM));
    }, pause);
  };
  const isBehind = () => {
    const { state, items } = definitions.peek();
    if (state !== 'live') return false;
    const names = new Set([...items.keys()].map((key) => key.slice(key.indexOf('/') + 1)));
    for (const name of names) defined.add(name);
    const served = new Set(kinds.peek().map(idOf));
    return [...defined].some((name) => served.has(name) !== names.has(name));
  };
  const later = () => {
    changed = performance.now();
    askIn(SOON);
  };

  mayShow.subscribe((may) => {
    if (may) void askKinds();
  });
  definitions.subscribe(later);
  services.subscribe(later);
});

let asks = 0;
/** The last question that has been answered. */
let answered = 0;

/** Asks discovery once more, for somebody who waits for a kind. A question that fails changes nothing. */
export async function askKinds(): Promise<void> {
  if (!ready.value) return;
  const turn = ++asks;
  try {
    const lists = await Promise.all([discover('/api'), discover('/apis')]);
    if (turn < answered) return;
    answered = turn;
    kinds.value = lists.flat();
  } catch {
    // The engine has gone: the next one is asked again.
  }
}

async function discover(path: string): Promise<Kind[]> {
  const response = await askAsAdmin('view', path, {
    headers: [['Accept', 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList']],
  });
  const { items } = (await response.json()) as Discovery;
  return items.flatMap(({ metadata: about, versions }) => {
    const seen = new Set<string>();
    const found: Kind[] = [];
    // The preferred version comes first.
    for (const { version, resources = [] } of versions) {
      for (const each of resources) {
        if (seen.has(each.resource)) continue;
        if (!each.verbs.includes('list') || !each.verbs.includes('watch')) continue;
        seen.add(each.resource);
        found.push({
          group: about?.name ?? '',
          version,
          resource: each.resource,
          kind: each.responseKind?.kind ?? each.resource,
          namespaced: each.scope === 'Namespaced',
          verbs: each.verbs,
          shortNames: each.shortNames ?? [],
          subresources: (each.subresources ?? []).map(({ subresource }) => subresource),
        });
      }
    }
    return found;
  });
}
