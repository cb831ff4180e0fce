import { decode, type Snapshot } from '../../../wasm/snapshot/format.mjs';
import { piecesOf } from '../client/pieces';
import { download, type OnBytes, transferSize } from './download';
import type { ModuleInfo } from './module';

/**
 * Fetches the snapshot of `info`'s module and checks it while it arrives. What is wrong with it costs one line in the
 * console and the time of an ordinary start, never the engine.
 *
 * @returns null when there is none that can be used
 */
export async function fetchSnapshot(
  info: ModuleInfo,
  base: URL,
  onBytes: OnBytes,
): Promise<Snapshot | null> {
  const { snapshot } = info;
  if (!snapshot) return null;
  try {
    const response = await download(snapshot, base);
    const transferTotal = transferSize(response, snapshot);
    onBytes(0, snapshot.bytes, transferTotal);
    const read = await decode(
      chunks(response, (loaded) => onBytes(loaded, snapshot.bytes, transferTotal)),
    );
    if (read.header.module !== info.sha256) throw new Error('it is of another module');
    return read;
  } catch (error) {
    notUsed(error);
    return null;
  }
}

/** The one line. */
export function notUsed(error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  console.warn(`kubetab: the engine is started without its snapshot: ${why}`);
}

async function* chunks(
  response: Response,
  onLoaded: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let loaded = 0;
  for await (const piece of piecesOf(response.body)) {
    loaded += piece.byteLength;
    onLoaded(loaded);
    yield piece;
  }
}
