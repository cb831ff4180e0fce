import { computed, signal } from '@preact/signals';
import { suffixOf } from '../../client/cluster-names';
import { askAsAdmin } from '../engine/ask';
import { ready } from '../engine/cluster';
import { clusterHere } from '../engine/here';
import { nameHere } from '../engine/name-here';
import type { Prepared } from './prepared';

/*
 * What the cluster was made from. A cluster is known by the UID of its namespace kube-system, and keeps it from visit to
 * visit; one that is begun anew has another.
 */

const keyOf = (cluster: string) => nameHere(`kubetab.cluster${suffixOf(cluster)}`);
const KEY = keyOf(clusterHere);

interface Named {
  readonly uid: string;
  readonly name: Prepared;
}

const uid = signal('');
const named = signal<Named | null>(kept());

/** The prepared cluster that this one began as; null for one that began empty, or before the engine has told. */
export const preparedName = computed(() =>
  named.value && named.value.uid === uid.value ? named.value.name : null,
);

/** To be called once; follows every engine that comes, and what other tabs make of it. */
export function followClusterName(): void {
  ready.subscribe((isReady) => {
    uid.value = '';
    if (isReady) void identify().catch(() => undefined); // the engine has gone
  });
  addEventListener('storage', ({ key }) => {
    if (key === KEY) named.value = kept();
  });
}

/** The cluster that runs has been made from this one. */
export async function nameCluster(name: Prepared): Promise<void> {
  await identify();
  if (!uid.value) return;
  named.value = { uid: uid.value, name };
  try {
    localStorage.setItem(KEY, JSON.stringify(named.value));
  } catch {
    // Known as long as this tab is open, then.
  }
}

/** A copy of a cluster was made from the same; without a copy, what is known of a cluster is forgotten. */
export function passOn(from: string | null, to: string): void {
  try {
    const known = from && localStorage.getItem(keyOf(from));
    if (known) localStorage.setItem(keyOf(to), known);
    else localStorage.removeItem(keyOf(to));
  } catch {
    // Nothing is known of any, then.
  }
}

async function identify(): Promise<void> {
  const answer = await askAsAdmin('view', '/api/v1/namespaces/kube-system');
  if (!answer.ok) return;
  const { metadata } = (await answer.json()) as { metadata: { uid: string } };
  uid.value = metadata.uid;
}

function kept(): Named | null {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? 'null') as Named | null;
  } catch {
    return null;
  }
}
