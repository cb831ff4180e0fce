import { suffixOf } from '../../client/cluster-names';
import { scope } from '../engine/here';
import { nameHere } from '../engine/name-here';

/** Files that the editor shows, by their key `path`. */
export const FILES = 'files';
/** The others, by path. */
export const OTHERS = 'others';

const DATABASE = 'kubetab-workspace';

/** The name of the database with the files of a cluster: each has its own, so that it can be deleted alone. */
export function workspaceOf(cluster: string): string {
  const suffix = suffixOf(cluster);
  return suffix ? `${DATABASE} ${scope.pathname}${suffix}` : nameHere(DATABASE);
}

export function openWorkspaceDatabase(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 2);
    request.onupgradeneeded = ({ oldVersion }) => {
      if (oldVersion < 1) request.result.createObjectStore(FILES, { keyPath: 'path' });
      request.result.createObjectStore(OTHERS);
    };
    request.onsuccess = () => {
      // A later version of the page in another tab shall not wait for this one, nor whoever deletes it.
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
  });
}
