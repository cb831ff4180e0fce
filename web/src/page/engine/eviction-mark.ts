import { suffixOf } from '../../client/cluster-names';
import { nameHere } from './name-here';
import { siteStorage } from './storage';

/*
 * A mark for each cluster that the browser keeps. A browser that deletes databases when the disk is nearly full leaves
 * such small items alone, so that a mark without a cluster tells what has happened.
 */

const keyOf = (cluster: string) => nameHere(`kubetab.kept${suffixOf(cluster)}`);

/** @param worker the one that keeps it: see EngineLink.worker */
export function markKept(cluster: string, worker: string): void {
  siteStorage.keepText(keyOf(cluster), worker);
}

/** The visitor has the cluster deleted or begun anew, or knows that it is gone. */
export function unmarkKept(cluster: string): void {
  siteStorage.keepText(keyOf(cluster), null);
}

/** The worker that has kept something; null when nothing is kept, or nothing can be told of it. */
export function keptBy(cluster: string): string | null {
  return siteStorage.text(keyOf(cluster));
}
