import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import { suffixOf } from '../../../client/cluster-names';
import { patiently } from '../../../engine/journal/database';
import { scope } from '../../engine/here';
import { nameHere } from '../../engine/name-here';
import type { WorkspaceFile } from './workspace';

/** Files that the editor shows, by their key `path`. */
export const FILES = 'files';
/** The others, by path. */
export const OTHERS = 'others';

const DATABASE = 'kubetab-workspace';

interface Workspace extends DBSchema {
  readonly files: { readonly key: string; readonly value: WorkspaceFile };
  readonly others: { readonly key: string; readonly value: Uint8Array<ArrayBuffer> };
}

export type WorkspaceDatabase = IDBPDatabase<Workspace>;

/** The name of the database with the files of a cluster: each has its own, so that it can be deleted alone. */
export function workspaceOf(cluster: string): string {
  const suffix = suffixOf(cluster);
  return suffix ? `${DATABASE} ${scope.pathname}${suffix}` : nameHere(DATABASE);
}

/** @param onLost called when the browser has deleted it, as it does with the data of a site; not when a page deletes it */
export async function openWorkspaceDatabase(
  name: string,
  onLost: () => void = () => undefined,
): Promise<WorkspaceDatabase> {
  const database = await patiently(() =>
    openDB<Workspace>(name, 2, {
      upgrade: (made, before) => {
        if (before < 1) made.createObjectStore(FILES, { keyPath: 'path' });
        made.createObjectStore(OTHERS);
      },
      terminated: onLost,
    }),
  );
  // A later version of the page in another tab shall not wait for this one, nor whoever deletes it.
  database.onversionchange = () => database.close();
  return database;
}
