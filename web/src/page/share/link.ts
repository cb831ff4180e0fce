/*
 * Files in the fragment of an address, which browsers send to no server:
 *
 *   #shared/1/<base64url of zlib of JSON: [["path", "text"], ...]>
 *
 * content.ts has the other forms.
 *
 * zlib, and not bare deflate, for its checksum: a link that was cut or altered is known as such.
 */

import { piecesOf } from '../../client/pieces';

export interface SharedFile {
  readonly path: string;
  readonly text: string;
}

/** What a link may be long, in characters: mail and chat programs cut what is longer, or do not make it a link. */
export const LONGEST_LINK = 32_768;
/** What its files may be, in bytes of UTF-8 together. */
export const MOST_BYTES = 1_000_000;
export const MOST_FILES = 100;

const FORMAT = '1/';

/**
 * - `large`: more than a link made here may hold
 * - `format`: of a version of this page that is not known here
 * - `damaged`: cut, altered, or no such thing at all
 * - `gone`: a short link to what the host no longer keeps
 * - `unreachable`: a short link, and the host does not answer
 */
export type Unreadable = 'large' | 'format' | 'damaged' | 'gone' | 'unreachable';

export class UnreadableLink extends Error {
  constructor(readonly reason: Unreadable) {
    super(`a link with files cannot be read: ${reason}`);
  }
}

/** @returns what follows `#shared/` */
export async function pack(files: readonly SharedFile[]): Promise<string> {
  return FORMAT + encode(await packBytes(files));
}

/** What `pack` encodes: as files are kept by the host's store. */
export function packBytes(files: readonly SharedFile[]): Promise<Uint8Array<ArrayBuffer>> {
  const json = JSON.stringify(files.map(({ path, text }) => [path, text]));
  return collect(
    new Blob([json]).stream().pipeThrough(new CompressionStream('deflate')),
    Number.POSITIVE_INFINITY,
  );
}

/** @returns base64url */
export function encode(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** @throws UnreadableLink for what is longer than a link, or no base64url */
export function decode(text: string): Uint8Array<ArrayBuffer> {
  if (text.length > LONGEST_LINK) throw new UnreadableLink('large');
  if (!/^[\w-]+$/.test(text)) throw new UnreadableLink('damaged');
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  } catch {
    throw new UnreadableLink('damaged');
  }
}

/**
 * Reads content that anybody may have written. Nothing is inflated beyond what a link may hold.
 *
 * @param packed what follows `#shared/`
 * @throws UnreadableLink
 */
export async function unpack(packed: string): Promise<readonly SharedFile[]> {
  if (!packed.startsWith(FORMAT)) {
    throw new UnreadableLink(/^\d+\//.test(packed) ? 'format' : 'damaged');
  }
  return unpackBytes(decode(packed.slice(FORMAT.length)));
}

/** @throws UnreadableLink as `unpack` */
export async function unpackBytes(bytes: Uint8Array<ArrayBuffer>): Promise<readonly SharedFile[]> {
  let list: unknown;
  try {
    // JSON spells some bytes with six; names and quotes take some room, too.
    const json = await collect(
      new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate')),
      7 * MOST_BYTES,
    );
    list = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json));
  } catch (error) {
    throw error instanceof UnreadableLink ? error : new UnreadableLink('damaged');
  }
  if (!Array.isArray(list) || list.length === 0 || !list.every(isPair)) {
    throw new UnreadableLink('damaged');
  }
  const files = list.map(([path, text]) => ({ path, text }));
  if (files.length > MOST_FILES || sizeOf(files) > MOST_BYTES) throw new UnreadableLink('large');
  return files;
}

/** In bytes of UTF-8. */
export function sizeOf(files: readonly SharedFile[]): number {
  const encoder = new TextEncoder();
  return files.reduce((sum, { text }) => sum + encoder.encode(text).length, 0);
}

function isPair(each: unknown): each is [string, string] {
  return Array.isArray(each) && each.length === 2 && each.every((part) => typeof part === 'string');
}

/** All that a stream gives. @throws UnreadableLink for more than `most` bytes: what follows is then not even made */
async function collect(
  stream: ReadableStream<Uint8Array>,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const piece of piecesOf(stream)) {
    size += piece.length;
    if (size > most) throw new UnreadableLink('large');
    pieces.push(piece as Uint8Array<ArrayBuffer>);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
