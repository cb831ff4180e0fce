import { gzipSync } from 'node:zlib';

/** The part of msgpack that a bundle's maps, strings, bytes and small numbers need. */
export function packed(value: unknown): Buffer {
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(5, 0xce);
    bytes.writeUInt32BE(value, 1);
    return bytes;
  }
  if (typeof value === 'boolean') return Buffer.from([value ? 0xc3 : 0xc2]);
  if (typeof value === 'string')
    return Buffer.concat([Buffer.from([0xd9, Buffer.byteLength(value)]), Buffer.from(value)]);
  if (value instanceof Buffer) {
    const head = Buffer.alloc(5, 0xc6);
    head.writeUInt32BE(value.length, 1);
    return Buffer.concat([head, value]);
  }
  if (Array.isArray(value))
    return Buffer.concat([Buffer.from([0x90 + value.length]), ...value.map(packed)]);
  const pairs = Object.entries(value as object).flat();
  return Buffer.concat([Buffer.from([0x80 + pairs.length / 2]), ...pairs.map(packed)]);
}

/** A bundle that Kubetab has not written: docs/bundle.md has its fields. */
export function bundleOf(cluster: object): Buffer {
  const body = packed(cluster);
  const envelope = { format: 'kubetab.bundle', version: 1, codec: 'gzip', size: body.length };
  return packed({ ...envelope, body: gzipSync(body) });
}
