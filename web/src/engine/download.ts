import { gunzipSync } from 'fflate';
import { joined } from '../client/bytes';
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

/** Where a file is: on a host that cannot send it compressed, the compressed file itself. */
export function addressOf({ url }: FileInfo, base: URL): URL {
  return new URL(__PACKED__ ? `${url}.gz` : url, base);
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
  const url = addressOf(info, base);
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
  if (!__PACKED__ || !response.body) return response;
  const { body, isGzip } = await peek(response.body);
  return responseOf(url, isGzip ? body.pipeThrough(new DecompressionStream('gzip')) : body);
}

/** `body` as its file's content type says, whatever the host has called it: browsers compile nothing else. */
function responseOf(url: URL, body: BodyInit): Response {
  const isModule = /\.wasm(\.gz)?$/.test(url.pathname);
  const type = isModule ? 'application/wasm' : 'application/octet-stream';
  return new Response(body, { headers: { 'content-type': type } });
}

/** Hosts may say that a file named .gz is a coding of another one, and browsers then unpack it. */
async function peek(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<{ body: ReadableStream<Uint8Array<ArrayBuffer>>; isGzip: boolean }> {
  const reader = body.getReader();
  let start = new Uint8Array();
  for (let done = false; !done && start.length < GZIP.length; ) {
    const next = await reader.read();
    done = next.done;
    if (next.value) start = joined([start, next.value], start.length + next.value.length);
  }
  const whole = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(start),
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { body: whole, isGzip: isGzipped(start) };
}

const GZIP = [0x1f, 0x8b];

function isGzipped(bytes: Uint8Array): boolean {
  return GZIP.every((byte, i) => bytes[i] === byte);
}

/**
 * Fetches a file while everything else in this worker stands still: Go is in the middle of a call. What fails is tried again,
 * because without these bytes the engine ends. Without a network the service worker answers with what is kept.
 *
 * @throws DownloadError when it cannot be had
 */
export function downloadNow(info: FileInfo, base: URL): Uint8Array {
  const url = addressOf(info, base);
  let failure: unknown;
  for (const address of [url, keptAddress(url), url, keptAddress(url)]) {
    try {
      const bytes = requestNow(address);
      return __PACKED__ && isGzipped(bytes)
        ? gunzipSync(bytes, { out: new Uint8Array(info.bytes) })
        : bytes;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** What a service worker answers with what is kept of `url`; to the server it is the same file. */
function keptAddress(url: URL): URL {
  const address = new URL(url);
  address.search = KEPT;
  return address;
}

/** The query of the address at which the service worker has what is kept of a file. */
export const KEPT = '?kept';

function requestNow(url: URL): Uint8Array {
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

/**
 * Keeps the answer to an address, gzipped.
 *
 * @param pace what the bytes pass before they are compressed: see `givingWay`
 * @throws TypeError when the body breaks, and DOMException of the name QuotaExceededError when there is no room
 */
export async function keepGzipped(
  cache: Cache,
  url: string,
  response: Response,
  pace: TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>,
): Promise<void> {
  if (!response.body) return;
  const { body, isGzip } = await peek(response.body);
  const gzip = isGzip ? body : body.pipeThrough(pace).pipeThrough(new CompressionStream('gzip'));
  await cache.put(url, responseOf(new URL(url), gzip));
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
  return responseOf(url, kept.body.pipeThrough(new DecompressionStream('gzip')));
}

/** What `response` costs on the wire: known by its content coding, because Content-Length is not passed on. */
export function transferSize(response: Response, info: FileInfo): number {
  if (__PACKED__) return info.gzip ?? info.bytes;
  const coding = response.headers.get('content-encoding');
  return (coding === 'br' ? info.br : coding === 'gzip' ? info.gzip : undefined) ?? info.bytes;
}

/**
 * Adds up the progress of several downloads.
 *
 * @param awaited what is certain to come counts before it has begun: the whole is not there when another part is. Null
 *   for what may not be fetched at all.
 */
export function together(awaited: readonly (FileInfo | null)[], onBytes: OnBytes): OnBytes[] {
  const parts = awaited.map(
    (info): Parameters<OnBytes> =>
      info ? [0, info.bytes, info.br ?? info.gzip ?? info.bytes] : [0, 0, 0],
  );
  return parts.map((_, i) => (...now) => {
    parts[i] = now;
    const sum = (column: 0 | 1 | 2) => parts.reduce((all, part) => all + part[column], 0);
    onBytes(sum(0), sum(1), sum(2));
  });
}
