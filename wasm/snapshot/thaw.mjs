// Resumes a program from its snapshot, in place of Go.run.

import { lay, SnapshotError } from './format.mjs';
import { named } from './names.mjs';

/**
 * Makes the program's clocks go on from where they stood.
 *
 * The monotonic clock knows nothing of the time in between, like that of a machine that slept: no timer is late and no
 * back-off is over. The wall clock shows the present, but never less than it did.
 *
 * To be called before the module is instantiated with go.importObject.
 */
export function continueClocks(go, { nanotime, walltime }) {
  const began = performance.now();
  const elapsed = () => performance.now() - began;
  const imports = go.importObject.gojs;
  imports['runtime.nanotime1'] = (sp) => {
    const ns = nanotime + elapsed() * 1e6;
    go.mem.setUint32((sp >>> 0) + 8, ns, true);
    go.mem.setUint32((sp >>> 0) + 12, ns / 2 ** 32, true);
  };
  imports['runtime.walltime'] = (sp) => {
    const ms = Math.floor(Math.max(Date.now(), walltime + elapsed()));
    const seconds = Math.floor(ms / 1000);
    go.mem.setUint32((sp >>> 0) + 8, seconds, true);
    go.mem.setUint32((sp >>> 0) + 12, seconds / 2 ** 32, true);
    go.mem.setInt32((sp >>> 0) + 16, (ms % 1000) * 1e6, true);
  };
}

/**
 * Sets what the snapshot holds in a fresh instance of its module. Go does not run before one of its timers is due or one
 * of the functions in globalThis.kubetabEngine, which this sets, is called.
 *
 * @throws {SnapshotError} when the module or this JavaScript cannot take it; the instance is of no use then
 */
export function thaw(go, instance, { header, body }) {
  const { exports } = instance;
  for (const name of Object.keys(header.globals)) {
    if (!(exports[name] instanceof WebAssembly.Global)) throw new SnapshotError(`the module does not export ${name}`);
  }
  const missing = header.pages - exports.mem.buffer.byteLength / 65536;
  if (missing > 0) exports.mem.grow(missing);
  lay({ header, body }, new Uint8Array(exports.mem.buffer));
  for (const [name, value] of Object.entries(header.globals)) {
    exports[name].value = typeof exports[name].value === 'bigint' ? BigInt(value) : Number(value);
  }

  const functions = new Map();
  const func = (id) => {
    if (!functions.has(id)) functions.set(id, go._makeFuncWrapper(id));
    return functions.get(id);
  };
  globalThis.kubetabEngine = Object.fromEntries(Object.entries(header.functions).map(([name, id]) => [name, func(id)]));

  // As Go.run makes them.
  go._inst = instance;
  go.mem = new DataView(exports.mem.buffer);
  go._values = [NaN, 0, null, true, false, globalThis, go];
  go._ids = new Map(go._values.map((value, id) => [value, id]).slice(1));
  for (const value of header.values) {
    const id = go._values.length;
    const found = meaning(value, func);
    if (found === undefined) throw new SnapshotError(`there is no ${value.name} here`);
    go._values.push(found);
    if (value !== null) go._ids.set(found, id);
  }
  go._goRefCounts = header.counts.map((count) => count ?? Number.POSITIVE_INFINITY);
  go._idPool = [...header.free];
  go._nextCallbackTimeoutID = header.nextTimer;
  go.exited = false;
  for (const [id, ms] of header.timers) {
    const timer = setTimeout(() => {
      go._resume();
      while (go._scheduledTimeouts.has(id)) go._resume(); // as in wasm_exec.js
    }, ms);
    go._scheduledTimeouts.set(id, timer);
  }
}

function meaning(value, func) {
  if (value === null) return null;
  if ('func' in value) return func(value.func);
  if ('name' in value) return named(value.name);
  return 'spent' in value ? {} : value.value;
}
