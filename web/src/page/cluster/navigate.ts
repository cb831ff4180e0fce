import { go } from '../frame/route';
import { collectionPath, findKind, type Kind, objectPath } from './kinds';

/** Shows an object, wherever the visitor is. Does nothing for a kind that the cluster does not have. */
export function openObject(group: string, resource: string, namespace: string, name: string): void {
  const kind = findKind(group, resource);
  if (kind) go('cluster', objectPath(kind, namespace, name));
}

export function openKind(kind: Kind): void {
  go('cluster', collectionPath(kind, ''));
}
