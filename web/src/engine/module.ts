/** Where the module is and what it weighs; written by the build (build/build.mjs) into the worker itself. */
export interface ModuleInfo {
  /** Relative to the page, hashed. */
  readonly url: string;
  readonly bytes: number;
  /** Bytes on the wire by content coding; absent where the build made no such variant. */
  readonly br?: number;
  readonly gzip?: number;
}

/** Bytes of the module that have arrived, of `total`, and what the whole costs on the wire. */
export type OnBytes = (loaded: number, total: number, transferTotal: number) => void;

/** The module could not be fetched; the message says which address answered what. */
export class DownloadError extends Error {}

/** Kept by the service worker after a first start, gzipped: see keepModule in sw.ts. */
export const OFFLINE_CACHE = 'kubetab-module';

/**
 * Fetches the module and compiles it while it arrives.
 *
 * The response itself goes to `compileStreaming`, because only then can the browser keep the compiled code beside the
 * response in its cache (a reload then skips compilation); what has arrived is counted on a clone.
 *
 * @throws DownloadError when it cannot be had; WebAssembly.CompileError when the browser refuses it
 */
export async function compileModule(
  info: ModuleInfo,
  base: URL,
  onBytes: OnBytes,
): Promise<WebAssembly.Module> {
  const response = await fetchModule(info, base);
  const coding = response.headers.get('content-encoding');
  const transferTotal =
    (coding === 'br' ? info.br : coding === 'gzip' ? info.gzip : undefined) ?? info.bytes;
  onBytes(0, info.bytes, transferTotal);
  const counting = count(response.clone(), (loaded) => onBytes(loaded, info.bytes, transferTotal));
  const [module] = await Promise.all([WebAssembly.compileStreaming(response), counting]);
  return module;
}

async function fetchModule(info: ModuleInfo, base: URL): Promise<Response> {
  const url = new URL(info.url, base);
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'same-origin' });
  } catch (error) {
    const kept = await keptModule(url);
    if (kept) return kept;
    throw new DownloadError(`${url.pathname} could not be reached (${String(error)}).`);
  }
  if (!response.ok) {
    throw new DownloadError(
      `The server answered ${response.status} ${response.statusText} to ${url.pathname}.`,
    );
  }
  const type = response.headers.get('content-type') ?? 'nothing';
  if (!type.startsWith('application/wasm')) {
    throw new DownloadError(
      `The server sent ${url.pathname} as ${type}; browsers compile only application/wasm.`,
    );
  }
  return response;
}

async function keptModule(url: URL): Promise<Response | null> {
  if (!('caches' in globalThis)) return null;
  const kept = await (await caches.open(OFFLINE_CACHE)).match(url);
  if (!kept?.body) return null;
  return new Response(kept.body.pipeThrough(new DecompressionStream('gzip')), {
    headers: { 'content-type': 'application/wasm' },
  });
}

async function count(response: Response, onLoaded: (bytes: number) => void): Promise<void> {
  const reader = response.body?.getReader();
  if (!reader) return;
  let loaded = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    loaded += value.byteLength;
    onLoaded(loaded);
  }
}
