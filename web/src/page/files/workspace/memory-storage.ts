import type { OtherFiles } from './local-storage';
import type { Storage, WorkspaceFile } from './workspace';

/**
 * Files of a document that keeps nothing: they are there as long as the document is, for each engine that it starts.
 *
 * @param first what is there from the start
 */
export function memoryOfFiles(first: readonly WorkspaceFile[]): Storage {
  const files = new Map(first.map((file) => [file.path, file]));
  return {
    load: async () => [...files.values()],
    save: async (file) => void files.set(file.path, file),
    remove: async (path) => void files.delete(path),
  };
}

export function memoryOfOthers(): OtherFiles {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  return {
    paths: async () => [...files.keys()],
    read: async (path) => files.get(path),
    save: async (path, bytes) => void files.set(path, bytes),
    remove: async (path) => void files.delete(path),
  };
}
