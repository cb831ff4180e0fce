import { computed, signal } from '@preact/signals';
import { suffixOf } from '../../../client/cluster-names';
import { askAsAdmin } from '../../engine/ask';
import { ready } from '../../engine/cluster';
import { clusterHere } from '../../engine/here';
import { nameHere } from '../../engine/name-here';
import { siteStorage } from '../../engine/storage';
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
  siteStorage.keep(KEY, named.value);
}

/** A copy of a cluster was made from the same; without a copy, what is known of a cluster is forgotten. */
export function passOn(from: string | null, to: string): void {
  siteStorage.keepText(keyOf(to), from && siteStorage.text(keyOf(from)));
}

async function identify(): Promise<void> {
  const answer = await askAsAdmin('view', '/api/v1/namespaces/kube-system');
  if (!answer.ok) return;
  const { metadata } = (await answer.json()) as { metadata: { uid: string } };
  uid.value = metadata.uid;
}

function kept(): Named | null {
  return siteStorage.value<Named>(KEY);
}
