/** Go's own glue, copied from GOROOT by `make wasm`. It defines globalThis.Go and a stand-in for node's fs. */
import 'virtual:wasm_exec';

export interface GoProgram {
  argv: string[];
  env: Record<string, string>;
  exit: (code: number) => void;
  readonly importObject: WebAssembly.Imports;
  /** Resolves when main() returns or the program exits. */
  run(instance: WebAssembly.Instance): Promise<void>;
}

export const Go = (globalThis as typeof globalThis & { Go: new () => GoProgram }).Go;
