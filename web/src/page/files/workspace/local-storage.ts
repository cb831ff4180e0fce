import { clusterHere } from '../../engine/here';
import type { Storage } from './workspace';
import {
  FILES,
  OTHERS,
  openWorkspaceDatabase,
  type WorkspaceDatabase,
  workspaceOf,
} from './workspace-database';

/** Files that no editor shows, by path. */
export interface OtherFiles {
  paths(): Promise<readonly string[]>;
  read(path: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  save(path: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  remove(path: string): Promise<void>;
}

let database: Promise<WorkspaceDatabase> | null = null;

function open(): Promise<WorkspaceDatabase> {
  database ??= openWorkspaceDatabase(workspaceOf(clusterHere));
  return database;
}

/** Files of this tab's cluster, in the browser's own database: they stay when it is reset or the tab is closed. */
export function localStorageOfFiles(): Storage {
  return {
    load: async () => (await open()).getAll(FILES),
    save: async (file) => void (await (await open()).put(FILES, file)),
    remove: async (path) => (await open()).delete(FILES, path),
  };
}

export function localStorageOfOthers(): OtherFiles {
  return {
    paths: async () => (await open()).getAllKeys(OTHERS),
    read: async (path) => (await open()).get(OTHERS, path),
    save: async (path, bytes) => void (await (await open()).put(OTHERS, bytes, path)),
    remove: async (path) => (await open()).delete(OTHERS, path),
  };
}
