/*
 * Names of clusters. A browser keeps any number of them, and each document is in one for as long as it lives.
 * public/early.js says in which, before anything else runs.
 */

/** The one that a visitor begins with. What browsers kept before clusters had names is this one's. */
export const OWN = 'own';

/** Told by the name: `lesson-<part>-<lesson>`, `prepared-<folder of /clusters>`, and all others are the visitor's own. */
export type ClusterKind = 'own' | 'lesson' | 'prepared';

/** Whether it can be a cluster's name: a DNS label, since it becomes part of other names. Addresses bring any text. */
export function isClusterName(name: unknown): name is string {
  return typeof name === 'string' && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name);
}

export function kindOf(name: string): ClusterKind {
  if (name.startsWith('lesson-')) return 'lesson';
  return name.startsWith('prepared-') ? 'prepared' : 'own';
}

/** The cluster that belongs to a lesson. */
export function lessonCluster(part: string, lesson: string): string {
  return `lesson-${part}-${lesson}`;
}

/** The cluster that begins as a folder of /clusters says; public/early.js knows the folders. */
export function preparedCluster(folder: string): string {
  return `prepared-${folder}`;
}

/**
 * The ending that tells the names of a cluster's databases, locks and channels from those of other clusters; empty for
 * `OWN`. No path of an address has braces.
 */
export function suffixOf(cluster: string): string {
  return cluster === OWN ? '' : `{${cluster}}`;
}

const WORKER = 'kubetab';

/** The name of the worker of an embed: its engine serves one page and keeps nothing. */
export const ALONE = 'kubetab alone';

/** The name of the engine's worker, by which browsers and the worker itself tell it from those of other clusters. */
export function workerName(cluster: string): string {
  return WORKER + suffixOf(cluster);
}

/**
 * The cluster of a worker with this name.
 *
 * @throws RangeError when it is no name of a worker: it shall not run in the wrong cluster
 */
export function clusterOfWorker(name: string): string {
  if (name === WORKER) return OWN;
  const found = /^kubetab\{(.*)\}$/.exec(name)?.[1];
  if (!isClusterName(found)) throw new RangeError(`No worker of a cluster has the name ${name}.`);
  return found;
}

/**
 * The name of an engine where tabs elect its home. A SharedWorker needs no such name: browsers tell two of them apart
 * by the addresses of their scripts, which differ between folders and between builds. An engine of another folder or
 * with another module has another name, and does not answer.
 *
 * @param folder path of the site
 * @param module the hashed name of the module
 */
export function engineName(folder: string, module: string, cluster: string): string {
  return folder + module + suffixOf(cluster);
}
