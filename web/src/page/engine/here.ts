import { signal } from '@preact/signals';
import { isClusterName, kindOf, OWN, suffixOf } from '../../client/cluster-names';
import { siteStorage, tabStorage } from './storage';

/** The site's folder: scope of the service worker, under which the API lies. */
export const scope = new URL('./', document.baseURI);

/**
 * The cluster that this document is in, for as long as the document lives; going to another cluster reloads the page.
 * public/early.js has found it in the address or in the tab's sessionStorage, and has started its engine.
 */
export const clusterHere = named(document.documentElement.dataset.cluster);

/** Whether this is embed.html: there is one cluster, and nothing is kept of it. */
export const isEmbedded = document.documentElement.dataset.embed !== undefined;

/** Whether this document has a pane, of which another one speaks: embed.html may have been asked for some of them. */
export function hasPane(name: 'terminal' | 'files' | 'settings'): boolean {
  const { panes } = document.documentElement.dataset;
  return !panes || panes.split(',').includes(name);
}

/** Of this tab, by what early.js calls it: the cluster it is in. */
const IN = `kubetab.in ${scope.pathname}`;
/** Of this tab: the last cluster of the visitor's own that it was in. */
const LAST_OWN = `kubetab.own ${scope.pathname}`;
/** Titles are known to all tabs. early.js takes a name in an address for known when it has one. */
const TITLE = `kubetab.title ${scope.pathname}`;
const LONGEST_TITLE = 80;
/** Grows with every title that is changed, here or in another tab. */
const renamed = signal(0);

/** Where it was, when the tab was last in a cluster of the visitor's own. */
export function lastOwn(): string {
  return named(tabStorage.text(LAST_OWN));
}

/**
 * Goes to a cluster, which is made if there is none: the page is loaded anew. From an embed, where there is no other
 * cluster, to the workbench in a tab of its own.
 *
 * @param options.hash the place to be at, with its `#`; without it, the view that is shown now, or the picture after a
 *   lesson
 * @throws RangeError for what cannot be the name of a cluster
 */
export function switchTo(name: string, { hash }: { readonly hash?: string } = {}): void {
  if (!isClusterName(name)) throw new RangeError(`A cluster cannot have the name ${name}.`);
  if (name === clusterHere) {
    if (hash !== undefined && hash !== location.hash) location.hash = hash;
    return;
  }
  if (isEmbedded) {
    const workbench = new URL(`?cluster=${name}`, scope);
    workbench.hash = hash ?? '';
    window.open(workbench, '_blank', 'noopener');
    return;
  }
  tabStorage.keepText(IN, name);
  const address = new URL(location.href);
  address.searchParams.delete('cluster');
  // What is shown of an object here may not be there.
  const [view = ''] = location.hash.split('/');
  address.hash = hash ?? (view === '#' ? '#cluster' : view);
  if (address.href !== location.href) history.pushState(null, '', address);
  location.reload();
}

/** What the visitor or a lesson has called a cluster; empty when nobody has. */
export function titleOf(name: string): string {
  void renamed.value; // who draws it draws it again
  return (siteStorage.text(titleKey(name)) ?? '').slice(0, LONGEST_TITLE);
}

/** Keeps a title for lists and the header; an empty one is forgotten. */
export function setTitle(name: string, title: string): void {
  siteStorage.keepText(titleKey(name), title.trim().slice(0, LONGEST_TITLE) || null);
  renamed.value++;
}

/** The clusters that have titles. */
export function titled(): string[] {
  const start = `${TITLE}{`;
  return (siteStorage.keys() ?? [])
    .filter((key) => key.startsWith(start) && key.endsWith('}'))
    .map((key) => key.slice(start.length, -1))
    .filter(isClusterName);
}

const USED = `kubetab-in ${scope.pathname}`;

/**
 * Tells other tabs, as long as this document lives, which cluster it is in, and receives the titles of clusters. Notes
 * for this tab which cluster it is in.
 */
export function holdCluster(): void {
  if (kindOf(clusterHere) === 'own') tabStorage.keepText(LAST_OWN, clusterHere);
  addEventListener('storage', ({ key }) => {
    if (key === null || key.startsWith(TITLE)) renamed.value++;
  });
  navigator.locks
    ?.request(USED + suffixOf(clusterHere), { mode: 'shared' }, () => {
      return new Promise<never>(() => undefined);
    })
    .catch(() => undefined); // storage is closed to this site, and locks with it
}

/** How many tabs are in each cluster, this one among them. */
export async function tabsIn(): Promise<ReadonlyMap<string, number>> {
  const tabs = new Map<string, number>();
  const locks = await navigator.locks?.query().catch(() => undefined);
  for (const { name = '' } of locks?.held ?? []) {
    if (!name.startsWith(USED)) continue;
    const suffix = name.slice(USED.length);
    const cluster = suffix === '' ? OWN : /^\{(.*)\}$/.exec(suffix)?.[1];
    if (isClusterName(cluster)) tabs.set(cluster, (tabs.get(cluster) ?? 0) + 1);
  }
  return tabs;
}

function titleKey(name: string): string {
  return name === OWN ? TITLE : `${TITLE}{${name}}`;
}

function named(name: unknown): string {
  return isClusterName(name) ? name : OWN;
}
