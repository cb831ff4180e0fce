import {
  decode,
  encode,
  LONGEST_LINK,
  type SharedFile,
  UnreadableLink,
  unpack,
  unpackBytes,
} from './link';
import { fetchShared } from './store';

/*
 * What follows `#shared/` in an address (docs/sharing.md):
 *
 *   1/...   files: link.ts
 *   b/...   a cluster: base64url of a bundle (docs/bundle.md)
 *   s/ID    either, from the share store of the page's host
 */

export const FILES_TYPE = 'application/vnd.kubetab.files';
export const BUNDLE_TYPE = 'application/vnd.kubetab.bundle';

export type Shared =
  | { readonly kind: 'files'; readonly files: readonly SharedFile[] }
  | { readonly kind: 'cluster'; readonly bytes: Uint8Array<ArrayBuffer> };

const BUNDLE = 'b/';
const KEPT = 's/';

/** @returns what follows `#shared/`, or nothing for a bundle that no link has room for */
export function packBundle(bytes: Uint8Array): string {
  return bytes.length > (LONGEST_LINK * 3) / 4 ? '' : BUNDLE + encode(bytes);
}

/** @returns what follows `#shared/` in a short link */
export function packId(id: string): string {
  return KEPT + id;
}

/**
 * Reads content that anybody may have written. A bundle is only bytes here: the engine
 * reads it.
 *
 * @throws UnreadableLink
 */
export async function read(text: string): Promise<Shared> {
  if (text.startsWith(BUNDLE)) {
    return { kind: 'cluster', bytes: decode(text.slice(BUNDLE.length)) };
  }
  if (!text.startsWith(KEPT)) return { kind: 'files', files: await unpack(text) };
  const id = text.slice(KEPT.length);
  if (!/^[a-z2-7]{24}$/.test(id)) throw new UnreadableLink('damaged');
  const { type, bytes } = await fetchShared(id);
  if (type === BUNDLE_TYPE) return { kind: 'cluster', bytes };
  if (type === FILES_TYPE) return { kind: 'files', files: await unpackBytes(bytes) };
  throw new UnreadableLink('format');
}
