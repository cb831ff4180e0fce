import type { Storage, WorkspaceFile } from './workspace';

const DATABASE = 'kubetab-workspace';
const FILES = 'files';
const OTHERS = 'others';

/** Files that no editor shows, by path. */
export interface OtherFiles {
  paths(): Promise<readonly string[]>;
  read(path: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  save(path: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  remove(path: string): Promise<void>;
}

let database: Promise<IDBDatabase> | null = null;

function open(): Promise<IDBDatabase> {
  database ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 2);
    request.onupgradeneeded = ({ oldVersion }) => {
      if (oldVersion < 1) request.result.createObjectStore(FILES, { keyPath: 'path' });
      request.result.createObjectStore(OTHERS);
    };
    request.onsuccess = () => {
      // A later version of the page in another tab shall not wait for this one.
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
  });
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

/** Files in the browser's own database: they stay when the cluster is reset or the tab is closed. */
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
