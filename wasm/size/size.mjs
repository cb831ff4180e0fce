#!/usr/bin/env node
// Where the bytes of a Go wasm module go:
//
//   node wasm/size/size.mjs [--top 40] [--depth 4] [--brotli 9] MODULE.wasm
//
// Sections, the parts of memory that the linker fills, and the code of each package. --brotli also
// compresses each section, and takes half a minute.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';

const sectionNames = ['custom', 'type', 'import', 'function', 'table', 'memory', 'global', 'export', 'start', 'element', 'code', 'data'];

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  get more() {
    return this.at < this.bytes.length;
  }
  byte() {
    return this.bytes[this.at++];
  }
  // Unsigned LEB128; sizes and indexes are far below 2^53.
  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const b = this.byte();
      value += (b & 127) * scale;
      if (b < 128) return value;
    }
  }
  // Signed LEB128 of 32 bits.
  signed() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const b = this.byte();
      value |= (b & 127) << shift;
      if (b < 128) return shift < 25 && b & 64 ? value | (-1 << (shift + 7)) : value;
    }
  }
  take(n) {
    return this.bytes.subarray(this.at, (this.at += n));
  }
  text() {
    return this.take(this.number()).toString();
  }
}

/** Splits a module. Returns [{name, bytes}]; a custom section's name is its own. */
export function sections(module) {
  if (module.readUInt32BE(0) !== 0x0061736d) throw new Error('not a WebAssembly module');
  const r = new Reader(module);
  r.at = 8;
  const list = [];
  while (r.more) {
    const id = r.byte();
    const bytes = r.take(r.number());
    if (id !== 0) {
      list.push({ name: sectionNames[id] ?? `section ${id}`, bytes });
      continue;
    }
    const custom = new Reader(bytes);
    const name = custom.text();
    list.push({ name, bytes: bytes.subarray(custom.at) });
  }
  return list;
}

/** The size of each function's body. */
export function bodySizes(bytes) {
  const r = new Reader(bytes);
  const sizes = new Array(r.number());
  for (let i = 0; i < sizes.length; i++) sizes[i] = r.take(r.number()).length;
  return sizes;
}

/** Import path of the package that a Go symbol belongs to. */
export function packageOf(symbol) {
  const name = symbol.replace(/^(type:\.(eq|hash)\.)/, '').replace(/^(\[\d*\]|go\.shape\.|go:|struct \{ |interface \{ |[*(])*/, '').split('[')[0];
  const dot = name.indexOf('.', name.lastIndexOf('/') + 1);
  // The linker escapes dots in the last element, and nothing else that occurs here.
  return dot < 0 ? '(linker)' : name.slice(0, dot).replaceAll('%2e', '.');
}

/** Lays the data section out as memory, without what it leaves zero at the end. */
function memory(bytes) {
  const r = new Reader(bytes);
  const parts = [];
  let end = 0;
  for (let n = r.number(); n > 0; n--) {
    r.number(); // memory index
    r.byte(); // i32.const
    const at = r.signed();
    r.byte(); // end
    const data = r.take(r.number());
    parts.push({ at, data });
    end = Math.max(end, at + data.length);
  }
  const all = Buffer.alloc(end);
  for (const { at, data } of parts) data.copy(all, at);
  return all;
}

/**
 * Reads Go's function table (runtime/symtab.go) out of the module's memory.
 *
 * Returns the sizes of the parts of memory that the linker makes, and the name of each function in the
 * order of the code section. The table is there whether or not the module was linked with -s.
 */
export function functionTable(data) {
  const all = memory(data);
  const start = pcHeader(all);
  const [functions, , , names, units, files, tables, entries] = header(all, start);
  const list = new Array(functions);
  let records = 0; // where the last one begins, from entries
  for (let i = 0; i < functions; i++) {
    const record = all.readUInt32LE(start + entries + 8 * i + 4);
    const name = start + names + all.readUInt32LE(start + entries + record + 4);
    list[i] = all.toString('latin1', name, all.indexOf(0, name));
    records = Math.max(records, record);
  }
  const parts = {
    'constants and types': start,
    'function names': units - names,
    'file names': tables - units,
    'line tables': entries - tables,
    'function records': records,
    'function data, variables': all.length - start - entries - records,
  };
  return { names: list, parts };
}

const header = (all, at) => Array.from({ length: 8 }, (_, i) => Number(all.readBigUInt64LE(at + 8 + 8 * i)));

// Finds the table by its first bytes: magic, quantum 1, pointers of 8, and offsets that ascend.
function pcHeader(all) {
  const magic = Buffer.from([0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8]);
  for (let at = all.indexOf(magic); at >= 0; at = all.indexOf(magic, at + 1)) {
    const offsets = at % 8 === 0 ? header(all, at).slice(3) : [];
    if (offsets.length > 0 && offsets.every((offset, i) => i === 0 || offset > offsets[i - 1])) return at;
  }
  throw new Error("no function table: not a module of Go's, or of a Go whose table has another layout");
}

function print(title, rows, extra = () => '') {
  console.log(`\n${title}`);
  for (const [name, size] of rows) console.log(`${(size / 1e6).toFixed(2).padStart(9)} MB  ${extra(name).padStart(9)}  ${name}`);
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { top: { type: 'string', default: '40' }, depth: { type: 'string', default: '4' }, brotli: { type: 'string' } },
  });
  if (positionals.length !== 1) throw new Error('usage: node wasm/size/size.mjs [--top 40] [--depth 4] [--brotli 9] MODULE.wasm');
  const module = readFileSync(positionals[0]);
  const list = sections(module);
  const section = (name) => list.find((s) => s.name === name)?.bytes;

  const compressed = new Map();
  if (values.brotli) {
    const params = { [constants.BROTLI_PARAM_QUALITY]: Number(values.brotli), [constants.BROTLI_PARAM_LGWIN]: 24 };
    for (const { name, bytes } of list) compressed.set(name, `${(brotliCompressSync(bytes, { params }).length / 1e6).toFixed(2)} br`);
  }
  print(`${(module.length / 1e6).toFixed(1)} MB`, list.map((s) => [s.name, s.bytes.length]).filter(([, size]) => size > 1000), (name) => compressed.get(name) ?? '');
  const { names, parts } = functionTable(section('data'));
  print('data', Object.entries(parts));

  const packages = new Map();
  bodySizes(section('code')).forEach((size, i) => {
    const name = packageOf(names[i] ?? '').split('/').slice(0, Number(values.depth)).join('/');
    packages.set(name, (packages.get(name) ?? 0) + size);
  });
  const sorted = [...packages].sort((a, b) => b[1] - a[1]);
  print(`code by package, to a depth of ${values.depth}`, sorted.slice(0, Number(values.top)));
}

if (process.argv[1]?.endsWith('size.mjs')) main();
