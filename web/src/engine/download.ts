import { nameIn } from '../client/folder';

/** A file that the build has named after its content, and what it weighs; written into the worker by build/build.mjs. */
export interface FileInfo {
  /** Relative to the page, hashed. */
  readonly url: string;
  readonly bytes: number;
  /** Bytes on the wire by content coding; absent where the build made no such variant. */
  readonly br?: number;
  readonly gzip?: number;
}

/** Bytes that have arrived, of `total`, and what the whole costs on the wire. */
export type OnBytes = (loaded: number, total: number, transferTotal: number) => void;

/** A file could not be fetched; the message says which address answered what. */
export class DownloadError extends Error {}

/**
 * The cache of what the service worker keeps after a first start, gzipped: see keepModule in sw.ts.
 *
 * @param site path of the site
 */
export function offlineCache(site: string): Promise<Cache> {
  return caches.open(nameIn(site, 'kubetab-module'));
}

/**
 * Fetches a file, from the network or from what is kept for visits without one.
 *
 * @throws DownloadError when it cannot be had
 */
export async function download(info: FileInfo, base: URL): Promise<Response> {
  const url = new URL(info.url, base);
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'same-origin' });
  } catch (error) {
    const kept = await keptFile(url);
    if (kept) return kept;
    throw new DownloadError(`${url.pathname} could not be reached (${String(error)}).`);
  }
  if (!response.ok) {
    // Another build may have taken the place of this one on the server.
    const kept = await keptFile(url);
    if (kept) return kept;
    throw new DownloadError(
      `The server answered ${response.status} ${response.statusText} to ${url.pathname}.`,
    );
  }
  return response;
}

/**
 * Fetches a file while everything else in this worker stands still: Go is in the middle of a call. Without a network
 * the service worker answers with what is kept.
 *
 * @throws DownloadError when it cannot be had
 */
export function downloadNow(info: FileInfo, base: URL): Uint8Array {
  const url = new URL(info.url, base);
  const request = new XMLHttpRequest();
  request.open('GET', url, false);
  request.responseType = 'arraybuffer';
  try {
    request.send();
  } catch (error) {
    throw new DownloadError(`${url.pathname} could not be reached (${String(error)}).`);
  }
  if (request.status !== 200) {
    throw new DownloadError(
      `The server answered ${request.status} ${request.statusText} to ${url.pathname}.`,
    );
  }
  return new Uint8Array(request.response as ArrayBuffer);
}

/** What the service worker has kept of an address, or null. */
export async function keptFile(url: URL): Promise<Response | null> {
  if (!('caches' in globalThis)) return null;
  let kept: Response | undefined;
  try {
    kept = await (await offlineCache(new URL('./', url).pathname)).match(url);
  } catch {
    return null; // storage is closed to this site
  }
  if (!kept?.body) return null;
  const type = kept.headers.get('content-type');
  return new Response(kept.body.pipeThrough(new DecompressionStream('gzip')), {
    headers: type ? { 'content-type': type } : {},
  });
}

/** What `response` costs on the wire: known by its content coding, because Content-Length is not passed on. */
export function transferSize(response: Response, info: FileInfo): number {
  const coding = response.headers.get('content-encoding');
  return (coding === 'br' ? info.br : coding === 'gzip' ? info.gzip : undefined) ?? info.bytes;
}

/**
 * Adds up what several downloads tell of themselves.
 *
 * @param awaited what is certain to come counts before it has begun: the whole is not there when another part is. Null
 *   for what may not be fetched at all.
 */
export function together(awaited: readonly (FileInfo | null)[], onBytes: OnBytes): OnBytes[] {
  const parts = awaited.map(
    (info): Parameters<OnBytes> => (info ? [0, info.bytes, info.br ?? info.bytes] : [0, 0, 0]),
  );
  return parts.map((_, i) => (...now) => {
    parts[i] = now;
    const sum = (column: 0 | 1 | 2) => parts.reduce((all, part) => all + part[column], 0);
    onBytes(sum(0), sum(1), sum(2));
  });
}
