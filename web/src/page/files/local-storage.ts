import type { Storage, WorkspaceFile } from './workspace';

const DATABASE = 'kubetab-workspace';
const FILES = 'files';

/** Files in the browser's own database: they stay when the cluster is reset or the tab is closed. */
export function localStorageOfFiles(): Storage {
  let database: Promise<IDBDatabase> | null = null;
  const open = () => {
    database ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(DATABASE, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(FILES, { keyPath: 'path' });
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    return database;
  };
  async function run<T>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest<T>) {
    const store = (await open()).transaction(FILES, mode).objectStore(FILES);
    return new Promise<T>((resolve, reject) => {
      const request = ask(store);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  }
  return {
    load: () => run<WorkspaceFile[]>('readonly', (store) => store.getAll()),
    save: async (file) => {
      await run('readwrite', (store) => store.put(file));
    },
    remove: async (path) => {
      await run('readwrite', (store) => store.delete(path));
    },
  };
}
