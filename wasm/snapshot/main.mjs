#!/usr/bin/env node
// Boots the engine and writes a snapshot of it:
//
//   node wasm/snapshot/main.mjs [--wasm build/wasm/kubetab.wasm] [--out build/wasm/kubetab.snapshot]
//                          [--date 2026-01-31T00:00:00Z] [--config '{"nodes":3}'] [--parked FILE | --kept FILE]
//
// --parked writes which functions are on stacks in it, and which it may name, for wasm/split, which then makes a module that
// knows less of others. --kept adds to that file what such a module should know, too. Both starts are the same but for the
// addresses, and what a stack leaves behind may survive in the second one alone.
//
// The objects that every cluster is born with were created some minutes before the date. The same module, date and settings make
// the same snapshot, byte for byte. Ends with 1 when the engine does not come to rest or cannot be frozen, with 2 on a
// wrong flag, with 3 when --kept has added something.

import { readFileSync, writeFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { NamesError } from './freeze.mjs';
import { named, parked } from './parked.mjs';
import { takeSnapshot } from './take.mjs';

const usage = `usage: node wasm/snapshot/main.mjs [--wasm FILE] [--out FILE] [--date TIME] [--config JSON]

  --wasm FILE    the module, with wasm_exec.js beside it (build/wasm/kubetab.wasm)
  --out FILE     where to write the snapshot (build/wasm/kubetab.snapshot)
  --date TIME    the time in the engine's world (1970-01-01T00:00:00Z)
  --parked FILE  where to write, as JSON, the slots of functions that are on stacks, and strings that may be names of some
  --kept FILE    what --parked has written before the module was cut: names that the engine should have, too, are added,
                 and the program ends with 3. The module is to be cut again then
  --config JSON  settings of the engine, see wasm/settings.go: those who go on from the snapshot have to give the same
`;

function parse() {
  const { values } = parseArgs({
    options: {
      wasm: { type: 'string', default: 'build/wasm/kubetab.wasm' },
      out: { type: 'string', default: 'build/wasm/kubetab.snapshot' },
      date: { type: 'string', default: '1970-01-01T00:00:00Z' },
      config: { type: 'string', default: '{}' },
      parked: { type: 'string' },
      kept: { type: 'string' },
    },
  });
  const date = Date.parse(values.date);
  if (Number.isNaN(date)) throw new Error(`--date ${values.date}: not a time`);
  return { wasm: resolve(values.wasm), out: resolve(values.out), date, config: JSON.parse(values.config), parked: values.parked, kept: values.kept };
}

let options;
try {
  options = parse();
} catch (error) {
  process.stderr.write(`snapshot: ${error.message}\n\n${usage}`);
  process.exit(2);
}
try {
  // What the process would tell the engine of itself: its log remembers the one, its clock the other.
  Object.defineProperty(process, 'pid', { value: 1 });
  process.env.TZ = 'UTC';
  const { out, parked: list, kept, ...what } = options;
  const onMemory = (memory) => list && writeFileSync(list, JSON.stringify({ slots: parked(memory), names: named(memory) }));
  const { refused } = kept ? JSON.parse(readFileSync(kept, 'utf8')) : {};
  const snapshot = await takeSnapshot({ ...what, refused, onMemory });
  await writeFile(`${out}.part`, snapshot);
  await rename(`${out}.part`, out);
  process.stderr.write(`${out}: ${(snapshot.length / 1e6).toFixed(1)} MB\n`);
  process.exit(0); // the engine does not end by itself
} catch (error) {
  process.stderr.write(`snapshot: ${error.message}\n`);
  if (error instanceof NamesError && options.kept) {
    const { slots, names, refused = [] } = JSON.parse(readFileSync(options.kept, 'utf8'));
    const all = [...new Set([...names, ...error.found.map(({ name }) => name)])].sort();
    // What the engine has already cannot be missing.
    if (all.length === names.length) process.exit(1);
    writeFileSync(options.kept, JSON.stringify({ slots, names: all, refused: [...refused, ...error.found] }));
    process.exit(3);
  }
  process.exit(1);
}
