// A snapshot of a Go program: what its memory holds beyond the module's own data, its registers, and the JavaScript
// values and timers it refers to. It fits one module only.
//
//   8 bytes   "KUBETAB" and the version of this format
//   4 bytes   length of the header, little endian
//   32 bytes  SHA-256 of the header
//   header    JSON, see Header
//   body      the pieces of memory that differ from the module's data, in the order of header.runs
//
// Nothing here needs Node or a browser: the builder, wasm/host and the page's engine worker share it.

const MAGIC = [0x4b, 0x55, 0x42, 0x45, 0x54, 0x41, 0x42, 2];
const PRELUDE = MAGIC.length + 4 + 32;

/** Memory is compared, and pieces are counted, in grains of so many bytes. */
export const GRAIN = 64;

/**
 * The body is checked in blocks, so that it can be while the rest is still arriving. crypto.subtle copies each, and a browser's
 * memory for a copy of more than a mebibyte is new every time.
 */
const BLOCK = 512 << 10;

/**
 * @typedef {object} Header
 * @property {string} module SHA-256 of the module, in hex
 * @property {string} config the settings of wasm/settings.go that it stands for, as JSON
 * @property {number} pages size of the memory, in pages of 64 KiB
 * @property {Record<string, string>} globals the module's, by name, in decimal
 * @property {number} nanotime what the monotonic clock showed, in ns
 * @property {number} walltime what the wall clock showed, in ms since 1970
 * @property {(Value | null)[]} values what Go's references mean, from the 8th on; null where one is free
 * @property {(number | null)[]} counts how often Go holds each; null for those that are always there
 * @property {number[]} free references that may be used again
 * @property {Record<string, number>} functions kubetabEngine: the id of each of its functions
 * @property {number} nextTimer
 * @property {[id: number, ms: number][]} timers that are pending, and in how long
 * @property {number[]} runs how many grains are as in the module's data, how many follow in the body, and so on
 * @property {number} bytes of the body
 * @property {string[]} sums SHA-256 of each block of the body, in hex
 */

/**
 * @typedef {{header: Header, body: Uint8Array}} Snapshot
 */

/**
 * A JavaScript value: one with a name below globalThis, one of Go's functions, a primitive, or one that Go is done with.
 * @typedef {{name: string} | {func: number} | {value: string | number | boolean} | {spent: true}} Value
 */

/** What is wrong with a snapshot, or why it is not for this module. */
export class SnapshotError extends Error {
  name = 'SnapshotError';
}

/**
 * Writes a snapshot.
 *
 * @param {Omit<Header, 'runs' | 'bytes' | 'sums'>} state
 * @param {Uint8Array} before memory as the module's data makes it
 * @param {Uint8Array} after memory now
 * @returns {Promise<Uint8Array>}
 */
export async function encode(state, before, after) {
  const { runs, body } = difference(before, after);
  const sums = [];
  for (let at = 0; at < body.length; at += BLOCK) sums.push(hex(await sha256(body.subarray(at, at + BLOCK))));
  const header = new TextEncoder().encode(JSON.stringify({ ...state, runs, bytes: body.length, sums }));
  const file = new Uint8Array(PRELUDE + header.length + body.length);
  file.set(MAGIC);
  new DataView(file.buffer).setUint32(MAGIC.length, header.length, true);
  file.set(await sha256(header), MAGIC.length + 4);
  file.set(header, PRELUDE);
  file.set(body, PRELUDE + header.length);
  return file;
}

/** @returns {{runs: number[], body: Uint8Array}} */
function difference(before, after) {
  const old = words(before);
  const now = words(after);
  const grain = GRAIN / 4;
  const runs = [];
  const pieces = [];
  let size = 0;
  let same = true; // what the last of runs counts
  let from = 0;
  const end = (at) => {
    runs.push((at - from) / grain);
    if (!same) {
      pieces.push(after.subarray(from * 4, at * 4));
      size += (at - from) * 4;
    }
    from = at;
    same = !same;
  };
  for (let at = 0; at < now.length; at += grain) {
    if (equal(old, now, at, grain) !== same) end(at);
  }
  if (!same) end(now.length);
  const body = new Uint8Array(size);
  let to = 0;
  for (const piece of pieces) {
    body.set(piece, to);
    to += piece.length;
  }
  return { runs, body };
}

const words = (bytes) => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);

// Beyond the end of the old memory everything is zero.
function equal(old, now, at, count) {
  for (let i = at; i < at + count; i++) if (now[i] !== (i < old.length ? old[i] : 0)) return false;
  return true;
}

/**
 * Reads a snapshot while it arrives, and checks it.
 *
 * @param {AsyncIterable<Uint8Array>} chunks
 * @returns {Promise<Snapshot>}
 * @throws {SnapshotError} when it is no snapshot of this version, torn, or altered; whatever the chunks throw
 */
export async function decode(chunks) {
  let head = new Uint8Array(0);
  /** @type {Header | undefined} */
  let header;
  let body = new Uint8Array(0);
  let at = 0; // in body
  const checks = [];
  const check = (from, to, sum) => {
    checks.push(
      sha256(body.subarray(from, to)).then((actual) => {
        if (hex(actual) !== sum) throw new SnapshotError(`its bytes from ${from} to ${to} are not what was written`);
      }),
    );
    checks.at(-1)?.catch(() => {}); // awaited below, if nothing else fails before
  };
  for await (let chunk of chunks) {
    if (!header) {
      head = joined(head, chunk);
      const length = headerLength(head);
      if (length === undefined || head.length < PRELUDE + length) continue;
      header = await readHeader(head, length);
      body = new Uint8Array(header.bytes);
      chunk = head.subarray(PRELUDE + length);
    }
    if (at + chunk.length > body.length) throw new SnapshotError('it is longer than it says');
    body.set(chunk, at);
    for (let block = Math.floor(at / BLOCK); (block + 1) * BLOCK <= at + chunk.length; block++) {
      check(block * BLOCK, (block + 1) * BLOCK, header.sums[block]);
    }
    at += chunk.length;
  }
  if (!header || at !== body.length) throw new SnapshotError('it is torn');
  if (at % BLOCK !== 0) check(at - (at % BLOCK), at, header.sums.at(-1));
  await Promise.all(checks);
  return { header, body };
}

function headerLength(head) {
  MAGIC.forEach((byte, i) => {
    if (i < head.length && head[i] !== byte) throw new SnapshotError('it is no snapshot, or one of another version');
  });
  if (head.length < PRELUDE) return undefined;
  return new DataView(head.buffer, head.byteOffset).getUint32(MAGIC.length, true);
}

async function readHeader(head, length) {
  const bytes = head.subarray(PRELUDE, PRELUDE + length);
  const sum = hex(head.subarray(MAGIC.length + 4, PRELUDE));
  if (hex(await sha256(bytes)) !== sum) throw new SnapshotError('its header is not what was written');
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** Lays the pieces of a snapshot over the memory of a fresh instance, which is large enough. */
export function lay({ header, body }, memory) {
  let to = 0;
  let from = 0;
  header.runs.forEach((grains, i) => {
    const bytes = grains * GRAIN;
    if (i % 2 === 1) {
      memory.set(body.subarray(from, from + bytes), to);
      from += bytes;
    }
    to += bytes;
  });
}

/**
 * Browsers have no crypto.subtle over plain HTTP from another machine, nor in the worker of a frame without an origin.
 *
 * @param {Uint8Array} bytes
 * @returns {Promise<Uint8Array>}
 */
export async function sha256(bytes) {
  if (!globalThis.crypto?.subtle) return (await import('@noble/hashes/sha2.js')).sha256(bytes);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

/** @param {Uint8Array} bytes */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

function joined(a, b) {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}
