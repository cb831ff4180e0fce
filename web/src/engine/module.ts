import { piecesOf } from '../client/pieces';
import { DownloadError, download, type FileInfo, type OnBytes, transferSize } from './download';

/** Where the module is and, unless the build left it out, the snapshot of a program that has started. */
export interface ModuleInfo extends FileInfo {
  /** Of the module, in hex. */
  readonly sha256: string;
  readonly snapshot?: FileInfo;
  /** The functions that wasm/split has cut off, if it has: those that are called soon, if there is a part of them, and the rest. */
  readonly soon?: FileInfo;
  readonly rest?: FileInfo;
}

/**
 * Fetches the module, or a part of it, and compiles it while it arrives.
 *
 * The response itself goes to `compileStreaming`, because only then can the browser keep the compiled code beside the
 * response in its cache (a reload then skips compilation); what has arrived is counted on a clone, which costs a tenth
 * of a reload. So it is not counted for those who had the module before: theirs comes from the browser's cache.
 *
 * @throws DownloadError when it cannot be had; WebAssembly.CompileError when the browser refuses it
 */
export async function compileModule(
  info: FileInfo,
  base: URL,
  onBytes: OnBytes,
  hadBefore: Promise<boolean>,
): Promise<WebAssembly.Module> {
  const [response, isKnown] = await Promise.all([download(info, base), hadBefore]);
  const type = response.headers.get('content-type') ?? 'nothing';
  if (!type.startsWith('application/wasm')) {
    throw new DownloadError(
      `The server sent ${info.url} as ${type}; browsers compile only application/wasm.`,
    );
  }
  const transferTotal = transferSize(response, info);
  onBytes(0, info.bytes, transferTotal);
  if (isKnown) {
    const module = await WebAssembly.compileStreaming(response);
    onBytes(info.bytes, info.bytes, transferTotal);
    return module;
  }
  const counting = count(response.clone(), (loaded) => onBytes(loaded, info.bytes, transferTotal));
  const [module] = await Promise.all([WebAssembly.compileStreaming(response), counting]);
  return module;
}

async function count(response: Response, onLoaded: (bytes: number) => void): Promise<void> {
  let loaded = 0;
  for await (const piece of piecesOf(response.body)) {
    loaded += piece.byteLength;
    onLoaded(loaded);
  }
}
