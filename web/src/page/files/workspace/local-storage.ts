import { unlessClosed } from '../../../engine/journal/database';
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
let saveAgain: () => void = () => undefined;

function open(): Promise<WorkspaceDatabase> {
  database ??= openWorkspaceDatabase(workspaceOf(clusterHere), () => {
    database = null;
    saveAgain();
  });
  return database;
}

/** What is being done while the browser deletes the database is done in the next one. */
async function kept<T>(done: (database: WorkspaceDatabase) => Promise<T>): Promise<T> {
  for (;;) {
    const opened = open();
    const database = await opened;
    try {
      return await unlessClosed(database, done(database));
    } catch (error) {
      if (opened === open()) throw error;
    }
  }
}

/** Files of this tab's cluster, in the browser's own database: they stay when it is reset or the tab is closed. */
export function localStorageOfFiles(): Storage {
  return {
    load: () => kept((database) => database.getAll(FILES)),
    save: (file) => kept(async (database) => void (await database.put(FILES, file))),
    remove: (path) => kept((database) => database.delete(FILES, path)),
    onLost: (save) => {
      saveAgain = save;
    },
  };
}

export function localStorageOfOthers(): OtherFiles {
  return {
    paths: () => kept((database) => database.getAllKeys(OTHERS)),
    read: (path) => kept((database) => database.get(OTHERS, path)),
    save: (path, bytes) => kept(async (database) => void (await database.put(OTHERS, bytes, path))),
    remove: (path) => kept((database) => database.delete(OTHERS, path)),
  };
}
