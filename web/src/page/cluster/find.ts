import { effect, untracked } from '@preact/signals';
import type { PaletteCommand } from '../frame/palette-commands';
import { go } from '../frame/route';
import { collectionPath, followKinds, idOf, type Kind, kinds } from './kinds';
import { namespace } from './namespace';
import { openKind, openObject } from './navigate';
import type { KubeObject } from './object';
import { hold, metadata, type Snapshot, watchOf } from './watch';
import { words } from './words';

/**
 * What the palette finds in the cluster: kinds, namespaces, and the objects of all kinds. Objects come from the watches
 * of metadata that the list of kinds counts with; for kinds that it does not count, watches begin when the palette is
 * opened, and end a while after it was closed.
 */

const META = metadata<KubeObject>();

/** Many, short-lived, and named by nobody. */
const UNNAMED = new Set(['events', 'events.events.k8s.io', 'componentstatuses']);

const searched = () => kinds.value.filter((kind) => !UNNAMED.has(idOf(kind)));

/** Watches the objects of every kind until the answer is called. */
export function holdObjects(): () => void {
  followKinds();
  const held = new Map<string, () => void>();
  const stop = effect(() => {
    const paths = new Set(searched().map((kind) => collectionPath(kind, '')));
    untracked(() => {
      for (const [path, release] of held) {
        if (paths.has(path)) continue;
        held.delete(path);
        release();
      }
      for (const path of paths) if (!held.has(path)) held.set(path, hold(path, META).release);
    });
  });
  return () => {
    stop();
    for (const release of held.values()) release();
    held.clear();
  };
}

/** How many kinds have not shown their objects yet, though they may be seen. */
export function kindsUnread(): number {
  return searched().filter((kind) => {
    const { state } = watchOf(collectionPath(kind, ''), META).snapshot.value;
    return state === 'waiting' || state === 'loading';
  }).length;
}

/** What can be found now. Read while something is drawn, it draws it again when the cluster changes. */
export function clusterCommands(): readonly PaletteCommand[] {
  const all = kinds.value;
  return [
    ...all.map(kindCommand),
    ...namespaceCommands(),
    ...searched().flatMap((kind) =>
      objectCommands(kind, watchOf(collectionPath(kind, ''), META).snapshot.value),
    ),
  ];
}

function kindCommand(kind: Kind): PaletteCommand {
  return {
    id: `kind ${idOf(kind)}`,
    names: 'label',
    label: kind.kind,
    group: words.kind,
    place: kind.group,
    keywords: keywordsOf(kind),
    weight: 8,
    run: () => openKind(kind),
  };
}

const keywordsOf = ({ resource, shortNames }: Kind) => `${resource} ${shortNames.join(' ')}`;

function namespaceCommands(): PaletteCommand[] {
  const { items } = watchOf('/api/v1/namespaces', META).snapshot.value;
  const show = (name: string) => {
    namespace.value = name;
    go('cluster');
  };
  const { namespace: group } = words;
  const each = [...items.values()].map(({ metadata: { name } }) => ({
    id: `namespace ${name}`,
    label: words.onlyNamespace(name),
    group,
    keywords: `ns ${name}`,
    weight: -2,
    run: () => show(name),
  }));
  return [
    { id: 'namespace', label: words.allNamespaces, group, keywords: 'ns', run: () => show('') },
    ...each,
  ];
}

/** Made once for each snapshot, because the palette keeps what it knows of each. */
const ofSnapshots = new WeakMap<Snapshot<KubeObject>, readonly PaletteCommand[]>();

function objectCommands(kind: Kind, snapshot: Snapshot<KubeObject>): readonly PaletteCommand[] {
  let commands = ofSnapshots.get(snapshot);
  if (!commands) {
    const weight = WEIGHTS[idOf(kind)] ?? (kind.group.includes('.') ? 0 : 1);
    const keywords = keywordsOf(kind);
    commands = [...snapshot.items.values()].map(
      ({ metadata: { name, namespace: place = '' } }) => ({
        id: `${idOf(kind)} ${place}/${name}`,
        names: 'label and group',
        label: name,
        group: kind.kind,
        place,
        keywords,
        weight: weight + (/^system:|^kube-/.test(name) || place.startsWith('kube-') ? -4 : 0),
        run: () => openObject(kind.group, kind.resource, place, name),
      }),
    );
    ofSnapshots.set(snapshot, commands);
  }
  return commands;
}

/** What people make and look for comes before what comes of it. */
const WEIGHTS: Readonly<Record<string, number>> = {
  'deployments.apps': 5,
  'statefulsets.apps': 5,
  'daemonsets.apps': 5,
  'jobs.batch': 4,
  'cronjobs.batch': 5,
  services: 4,
  pods: 3,
  nodes: 3,
  namespaces: 3,
  configmaps: 2,
  secrets: 2,
  'replicasets.apps': 1,
  endpoints: -3,
  'endpointslices.discovery.k8s.io': -3,
  'controllerrevisions.apps': -3,
  'leases.coordination.k8s.io': -3,
};
