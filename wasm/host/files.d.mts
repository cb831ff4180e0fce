/** A small file system in memory for the Go program, in the shape that Go's wasm_exec.js expects. */
export class MemoryFiles {
  cwd: string;
  /** Call after wasm_exec.js has been loaded and before the program runs. */
  install(scope: object): void;
}

/** Resolves a path as POSIX does, from `from` where it is relative. */
export function resolvePath(from: string, path: string): string;

/** The environment of the Go program. */
export const environment: Record<string, string>;
