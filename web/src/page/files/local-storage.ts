import { clusterHere } from '../engine/here';
import type { Storage, WorkspaceFile } from './workspace';
import { FILES, OTHERS, openWorkspaceDatabase, workspaceOf } from './workspace-database';

/** Files that no editor shows, by path. */
export interface OtherFiles {
  paths(): Promise<readonly string[]>;
  read(path: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  save(path: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  remove(path: string): Promise<void>;
}

let database: Promise<IDBDatabase> | null = null;

function open(): Promise<IDBDatabase> {
  database ??= openWorkspaceDatabase(workspaceOf(clusterHere));
  return database;
}

async function run<T>(
  name: string,
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const store = (await open()).transaction(name, mode).objectStore(name);
  return new Promise<T>((resolve, reject) => {
    const request = ask(store);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Files of this tab's cluster, in the browser's own database: they stay when it is reset or the tab is closed. */
export function localStorageOfFiles(): Storage {
  return {
    load: () => run<WorkspaceFile[]>(FILES, 'readonly', (store) => store.getAll()),
    save: async (file) => {
      await run(FILES, 'readwrite', (store) => store.put(file));
    },
    remove: async (path) => {
      await run(FILES, 'readwrite', (store) => store.delete(path));
    },
  };
}

export function localStorageOfOthers(): OtherFiles {
  return {
    paths: async () =>
      (await run(OTHERS, 'readonly', (store) => store.getAllKeys())).map((key) => String(key)),
    read: (path) => run(OTHERS, 'readonly', (store) => store.get(path)),
    save: async (path, bytes) => {
      await run(OTHERS, 'readwrite', (store) => store.put(bytes, path));
    },
    remove: async (path) => {
      await run(OTHERS, 'readwrite', (store) => store.delete(path));
    },
  };
}
