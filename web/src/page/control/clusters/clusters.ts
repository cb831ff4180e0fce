import { signal } from '@preact/signals';
import { deleteDB } from 'idb';
import { type ClusterKind, kindOf, OWN, preparedCluster } from '../../../client/cluster-names';
import { isFull } from '../../../engine/journal/database';
import { StillUsed, StoredClusters } from '../../../engine/journal/stored-clusters';
import { engineState, restartEngine, untilReady } from '../../engine/cluster';
import { unmarkKept } from '../../engine/eviction-mark';
import {
  clusterHere,
  lastOwn,
  scope,
  setTitle,
  switchTo,
  tabsIn,
  titled,
  titleOf,
} from '../../engine/here';
import {
  FILES,
  OTHERS,
  openWorkspaceDatabase,
  workspaceOf,
} from '../../files/workspace/workspace-database';
import { words as frameWords } from '../../words';
import { words } from '../words';
import { passOn } from './cluster-name';
import { CLUSTERS, type Prepared, startPrepared } from './prepared';
import { askToStay } from './stay';

export interface ClusterInfo {
  readonly name: string;
  readonly title: string;
  /** Whether the title is the page's own word, in its language. */
  readonly isOurs: boolean;
  readonly kind: ClusterKind;
  /** Of what is kept of its objects. */
  readonly bytes: number;
  /** In ms since the epoch; null when nothing has been kept of it yet. */
  readonly lastUsed: number | null;
  /** How many other tabs are in it. */
  readonly inUse: number;
  readonly isHere: boolean;
}

/** What `list` has told last; for who draws it. */
export const clusters = signal<readonly ClusterInfo[]>([]);

export const stored = new StoredClusters(scope.pathname);

/** All clusters of this browser and site: the visitor's own first, then lessons and prepared ones, the last used first. */
export async function list(): Promise<readonly ClusterInfo[]> {
  const [records, tabs] = await Promise.all([told(stored.list()), tabsIn()]);
  const found = new Map(records.map((each) => [each.name, each]));
  const names = new Set([OWN, clusterHere, ...found.keys(), ...tabs.keys(), ...titled()]);
  clusters.value = [...names]
    .map((name) => {
      const isHere = name === clusterHere;
      return {
        name,
        title: shownTitle(name),
        isOurs: !titleOf(name) && (name === OWN || preparedOf(name) !== undefined),
        kind: kindOf(name),
        bytes: found.get(name)?.bytes ?? 0,
        lastUsed: found.get(name)?.lastUsed || null,
        inUse: Math.max((tabs.get(name) ?? 0) - (isHere ? 1 : 0), 0),
        isHere,
      };
    })
    .sort((a, b) => rank(a) - rank(b) || (b.lastUsed ?? 0) - (a.lastUsed ?? 0));
  return clusters.value;
}

/** What a cluster is called where people read it. */
export function shownTitle(name: string): string {
  const prepared = preparedOf(name);
  const usual = prepared
    ? frameWords.cluster.prepared[prepared]
    : name === OWN
      ? frameWords.cluster.own
      : name;
  return titleOf(name) || usual;
}

/**
 * Makes room in the list for a new cluster of the visitor's own; it begins when somebody goes there.
 *
 * @returns its name
 */
export async function create(title: string): Promise<string> {
  const name = await freeName(title);
  setTitle(name, title.trim() || name);
  void askToStay();
  await list();
  return name;
}

export function rename(name: string, title: string): void {
  setTitle(name, title);
  clusters.value = clusters.value.map((each) =>
    each.name === name ? { ...each, title: shownTitle(name) } : each,
  );
}

/**
 * Begins a cluster anew: objects, settings and clock are gone, files stay. Resolves when the engine is ready again, if it
 * is the one of this tab.
 *
 * @throws Error with a sentence, while another tab is in a cluster that this one is not in
 */
export async function reset(name: string): Promise<void> {
  if (name !== clusterHere) {
    await unused(name);
    await told(stored.remove(name));
    unmarkKept(name);
    passOn(null, name);
    await list();
    return;
  }
  const prepared = preparedOf(name);
  if (prepared) {
    await startPrepared(prepared, {});
  } else {
    const began = new Promise<void>((resolve) => {
      const stop = engineState.subscribe((state) => {
        if (state?.phase === 'ready') return;
        queueMicrotask(() => stop());
        resolve();
      });
    });
    restartEngine('none');
    await began;
    await untilReady(new AbortController().signal);
  }
  await list();
}

/**
 * Makes a cluster with the objects, settings and files of another.
 *
 * @returns its name
 * @throws Error with a sentence; nothing of the copy is there then
 */
export async function duplicate(name: string, title: string): Promise<string> {
  const copy = await freeName(title || shownTitle(name));
  try {
    await told(stored.copy(name, copy));
    await copyFiles(name, copy);
  } catch (error) {
    await stored.remove(copy).catch(() => undefined);
    await dropFiles(copy);
    throw translated(error);
  }
  setTitle(copy, title.trim() || copy);
  passOn(name, copy);
  void askToStay();
  await list();
  return copy;
}

/**
 * Deletes a cluster with its files. If it is the one of this tab, the page goes to one of the visitor's own.
 *
 * @throws Error with a sentence, for the first cluster, and while another tab is in it
 */
export async function remove(name: string): Promise<void> {
  if (name === OWN) throw new Error(words.clusters.stays);
  await unused(name);
  await told(stored.remove(name));
  unmarkKept(name);
  await dropFiles(name);
  passOn(null, name);
  setTitle(name, '');
  if (name !== clusterHere) await list();
  else switchTo(lastOwn() === name ? OWN : lastOwn(), { hash: '#cluster' });
}

function preparedOf(name: string): Prepared | undefined {
  return CLUSTERS.find((each) => preparedCluster(each) === name);
}

function rank({ name, kind }: ClusterInfo): number {
  return name === OWN ? 0 : { own: 1, lesson: 2, prepared: 3 }[kind];
}

async function unused(name: string): Promise<void> {
  const tabs = (await tabsIn()).get(name) ?? 0;
  if (tabs > (name === clusterHere ? 1 : 0)) throw new Error(words.clusters.used);
}

export async function freeName(title: string): Promise<string> {
  const slug = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-+|-+$/g, '');
  const stem = slug && kindOf(slug) === 'own' && kindOf(`${slug}-`) === 'own' ? slug : 'cluster';
  const taken = new Set((await list()).map(({ name }) => name));
  for (let n = 1; ; n++) {
    const name = n === 1 ? stem : `${stem}-${n}`;
    if (!taken.has(name)) return name;
  }
}

async function copyFiles(from: string, to: string): Promise<void> {
  const [source, target] = await Promise.all(
    [from, to].map((name) => openWorkspaceDatabase(workspaceOf(name))),
  );
  if (!source || !target) return;
  try {
    const read = source.transaction([FILES, OTHERS]);
    const others = read.objectStore(OTHERS);
    const [files, keys, values] = await Promise.all([
      read.objectStore(FILES).getAll(),
      others.getAllKeys(),
      others.getAll(),
    ]);
    const write = target.transaction([FILES, OTHERS], 'readwrite');
    await Promise.all([
      ...files.map((file) => write.objectStore(FILES).put(file)),
      ...values.map((value, i) => write.objectStore(OTHERS).put(value, keys[i])),
      write.done,
    ]);
  } finally {
    source.close();
    target.close();
  }
}

export function dropFiles(name: string): Promise<void> {
  return new Promise((resolve) => {
    // Blocked: it goes when the tabs do that have it open.
    deleteDB(workspaceOf(name), { blocked: () => resolve() }).then(resolve, () => resolve());
  });
}

async function told<T>(doing: Promise<T>): Promise<T> {
  try {
    return await doing;
  } catch (error) {
    throw translated(error);
  }
}

export function translated(error: unknown): Error {
  if (error instanceof StillUsed) return new Error(words.clusters.used);
  if (isFull(error)) return new Error(words.clusters.full);
  if (error instanceof DOMException) return new Error(words.clusters.failed(error.message));
  return error instanceof Error ? error : new Error(String(error));
}
