import type { Record as RequestRecord } from '../../../answers/requestlog';
import { kindOf } from '../../../client/cluster-names';
import type { Ready } from '../../../protocol';
import { engineState, engineWorker } from '../../engine/cluster';
import { keptBy, markKept, unmarkKept } from '../../engine/eviction-mark';
import { clusterHere } from '../../engine/here';
import { onRecord, records } from '../../requests/log';

/** Asks the browser not to delete what it keeps when the disk becomes full; it may ask the visitor. */
export async function askToStay(): Promise<void> {
  try {
    if (!(await navigator.storage.persisted())) await navigator.storage.persist();
  } catch {
    // Then it is kept as long as the browser likes.
  }
}

/**
 * Asks as soon as there is something to lose: a cluster of an earlier visit, a lesson, or the first write of this one. To
 * be called once, with an engine that is ready.
 */
export function askInTime({ run }: Ready): void {
  let isAsked = run.cluster === 'kept' || kindOf(clusterHere) === 'lesson';
  if (isAsked) void askToStay();
  if (run.cluster === 'kept') markKept(clusterHere, engineWorker());
  const look = (record: RequestRecord) => {
    if (!isOwnWrite(record)) return;
    if (isKept()) markKept(clusterHere, engineWorker());
    if (isAsked) return;
    isAsked = true;
    void askToStay();
  };
  // This code is loaded when the engine is ready: the visitor may have been quicker.
  for (const record of records.value) look(record);
  onRecord(look);
}

function isKept(): boolean {
  const state = engineState.value;
  if (state?.phase !== 'ready' || state.unkept) return false;
  // A cluster that has begun without the snapshot is not gone on with: see Program in the engine's worker.
  const { from, cluster, settings } = state.run;
  return from === 'snapshot' || cluster === 'kept' || Object.keys(settings).length > 0;
}

/** Whether the browser has deleted what it kept of the cluster of this tab, which has begun anew then: that is told once. */
export function isEvicted({ run, unkept }: Ready): boolean {
  const keeper = keptBy(clusterHere);
  // An engine that was there before this document says how it began, and has kept something since.
  if (keeper === null || keeper === engineWorker()) return false;
  if (run.cluster === 'kept') return false;
  unmarkKept(clusterHere);
  return !unkept && run.notKept === null;
}

const WRITES = ['POST', 'PUT', 'PATCH', 'DELETE'];
/** Of the page itself. */
const PARTS = ['view', 'control', 'lesson'];

/** Whether the visitor has changed an object. */
export function isOwnWrite({
  method,
  path,
  group = '',
  internal,
  from,
  status = 0,
}: RequestRecord): boolean {
  if (internal || PARTS.includes(from) || !WRITES.includes(method)) return false;
  // Reviews are created to ask a question.
  if (/^(authentication|authorization)\.k8s\.io$/.test(group)) return false;
  return /^\/apis?\//.test(path) && !/[?&]dryRun=/.test(path) && status >= 200 && status < 300;
}
