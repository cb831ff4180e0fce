import type { EngineSettings } from '../protocol';
import { differing } from './settings';

/** What an engine reads at most, in bytes: see docs/bundle.md. */
const MOST = 256 * 2 ** 20;

/**
 * The settings in a bundle that differ from the defaults, which an engine must be started with before it reads the rest. Of the file, nothing else is
 * looked at, and nothing is checked but what is read: the engine refuses what it cannot use.
 *
 * @returns the defaults for a file that cannot be read so far; the engine then says why
 */
export async function settingsOfBundle(bundle: Uint8Array<ArrayBuffer>): Promise<EngineSettings> {
  try {
    const envelope = new Reader(bundle).value() as { readonly body: Uint8Array<ArrayBuffer> };
    const inflated = new Blob([envelope.body])
      .stream()
      .pipeThrough(new DecompressionStream('gzip'));
    const { settings } = new Reader(await whole(inflated)).value() as { settings?: EngineSettings };
    return differing(settings ?? {}); // what is not said is as in a new cluster
  } catch {
    return {};
  }
}

async function whole(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const piece of stream) {
    size += piece.byteLength;
    if (size > MOST) throw new RangeError('The bundle is too large.');
    pieces.push(piece as Uint8Array<ArrayBuffer>);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** How deep a bundle goes is three; a hostile one shall not end in a stack without room. */
const DEEPEST = 16;

/** The part of https://github.com/msgpack/msgpack/blob/master/spec.md that bundles have: no extension types. */
class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #depth = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** @throws RangeError at the end of the bytes, and for what bundles do not have */
  value(): unknown {
    const code = this.#uint(1);
    if (code <= 0x7f) return code;
    if (code <= 0x8f) return this.#map(code & 0xf);
    if (code <= 0x9f) return this.#array(code & 0xf);
    if (code <= 0xbf) return this.#text(code & 0x1f);
    if (code >= 0xe0) return code - 0x100;
    switch (code) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#take(this.#uint(1 << (code - 0xc4)));
      case 0xca:
        return this.#view.getFloat32(this.#skip(4));
      case 0xcb:
        return this.#view.getFloat64(this.#skip(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#uint(1 << (code - 0xcc));
      case 0xcf:
        return Number(this.#view.getBigUint64(this.#skip(8)));
      case 0xd0:
        return this.#view.getInt8(this.#skip(1));
      case 0xd1:
        return this.#view.getInt16(this.#skip(2));
      case 0xd2:
        return this.#view.getInt32(this.#skip(4));
      case 0xd3:
        return Number(this.#view.getBigInt64(this.#skip(8)));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#uint(1 << (code - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#uint(2 << (code - 0xdc)));
      case 0xde:
      case 0xdf:
        return this.#map(this.#uint(2 << (code - 0xde)));
      default:
        throw new RangeError(`A bundle has no value of the type ${code}.`);
    }
  }

  #map(size: number): unknown {
    const pairs: [string, unknown][] = [];
    this.#deeper(() => {
      for (let i = 0; i < size; i++) pairs.push([String(this.value()), this.value()]);
    });
    return Object.fromEntries(pairs);
  }

  #array(size: number): unknown {
    const items: unknown[] = [];
    this.#deeper(() => {
      for (let i = 0; i < size; i++) items.push(this.value());
    });
    return items;
  }

  #deeper(read: () => void): void {
    if (++this.#depth > DEEPEST) throw new RangeError('A bundle is not so deep.');
    read();
    this.#depth--;
  }

  #text(size: number): string {
    return new TextDecoder().decode(this.#take(size));
  }

  #take(size: number): Uint8Array {
    const from = this.#skip(size);
    return this.#bytes.subarray(from, from + size);
  }

  /** Big-endian, of 1, 2 or 4 bytes. */
  #uint(size: number): number {
    const from = this.#skip(size);
    if (size === 1) return this.#view.getUint8(from);
    return size === 2 ? this.#view.getUint16(from) : this.#view.getUint32(from);
  }

  #skip(size: number): number {
    const from = this.#at;
    if (from + size > this.#bytes.byteLength) throw new RangeError('The bundle ends too early.');
    this.#at += size;
    return from;
  }
}
