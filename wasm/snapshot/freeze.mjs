// Boots an engine in time and chance of its own making, and takes the snapshot of it.
//
// A program that sees the same clock, the same random numbers and the same events does the same: two snapshots of one
// module are equal, byte for byte. Nothing may depend on what is drawn here, for everybody can draw it again: see
// resume.Point.Renew.

import { createHash } from 'node:crypto';
import { MARK } from '../split/marks.mjs';
import { encode, hex, sha256, SnapshotError } from './format.mjs';
import { names } from './names.mjs';
import { isOfName, NAMES } from './parked.mjs';

// What looking at the clock costs, in ns. Without it a program that waits by looking would wait for ever. With 1,000 ns, time
// passed with each span that is allocated, the collector fell behind, and the snapshot was 6 MB larger.
const LOOK = 50;

// How often Go is called for a timer that it does not take.
const TRIES = 100;

/** A world that is made of a seed and of nothing else. */
export class World {
  #go;
  #walltime; // ms since 1970, at nanotime 0
  #draws = 0;
  /** What the monotonic clock shows, in ns. */
  nanotime = 1e9;
  /** Pending timers: id to when, in ns. @type {Map<number, number>} */
  timers = new Map();
  /** Ids of the functions that Go made. */
  functions = new WeakMap();

  /** @param {object} go before its module is instantiated. @param {number} walltime ms since 1970 */
  constructor(go, walltime) {
    this.#go = go;
    this.#walltime = walltime;
    const imports = go.importObject.gojs;
    const at = (sp, offset) => (sp >>> 0) + offset;
    const set64 = (address, value) => go.mem.setBigInt64(address, BigInt(value), true);
    imports['runtime.nanotime1'] = (sp) => set64(at(sp, 8), (this.nanotime += LOOK));
    imports['runtime.walltime'] = (sp) => {
      const ms = this.walltime;
      set64(at(sp, 8), Math.floor(ms / 1000));
      go.mem.setInt32(at(sp, 16), (ms % 1000) * 1e6, true);
    };
    imports['runtime.getRandomData'] = (sp) => {
      const start = Number(go.mem.getBigInt64(at(sp, 8), true));
      const length = Number(go.mem.getBigInt64(at(sp, 16), true));
      const bytes = new Uint8Array(go.mem.buffer, start, length);
      for (let i = 0; i < length; i += 32) {
        bytes.set(createHash('sha256').update(`kubetab ${this.#draws++}`).digest().subarray(0, length - i), i);
      }
    };
    imports['runtime.scheduleTimeoutEvent'] = (sp) => {
      const id = go._nextCallbackTimeoutID++;
      this.timers.set(id, this.nanotime + Number(go.mem.getBigInt64(at(sp, 8), true)) * 1e6);
      go.mem.setInt32(at(sp, 16), id, true);
    };
    imports['runtime.clearTimeoutEvent'] = (sp) => this.timers.delete(go.mem.getInt32(at(sp, 8), true));
    const wrap = go._makeFuncWrapper;
    go._makeFuncWrapper = (id) => {
      const f = wrap.call(go, id);
      this.functions.set(f, id);
      return f;
    };
  }

  /** What the wall clock shows, in ms since 1970. */
  get walltime() {
    return this.#walltime + Math.floor(this.nanotime / 1e6);
  }

  /**
   * Lets time pass until the condition holds, from timer to timer: nothing is waited for.
   *
   * @param {() => boolean} condition looked at whenever Go rests
   * @param {number} seconds of the world's time, after which this throws
   */
  async pass(condition, seconds) {
    const limit = this.nanotime + seconds * 1e9;
    for (;;) {
      await new Promise(setImmediate); // what JavaScript has to do takes no time
      if (condition()) return;
      const [id, due] = [...this.timers].reduce((first, timer) => (timer[1] < first[1] ? timer : first), [0, limit]);
      if (this.#go.exited) throw new Error('the program has ended');
      if (due >= limit) throw new Error(`not within ${seconds} s: ${condition}`);
      this.nanotime = Math.max(this.nanotime, due);
      for (let tries = 0; this.timers.has(id); tries++) {
        if (tries === TRIES) throw new Error('the program does not take its timer: it has crashed');
        this.#go._resume(); // more than once, as in wasm_exec.js
      }
    }
  }
}

/**
 * Takes the snapshot of a program that rests.
 *
 * @param {object} options
 * @param {object} options.go
 * @param {WebAssembly.Instance} options.instance
 * @param {World} options.world
 * @param {Uint8Array} options.module
 * @param {Uint8Array} options.memory
 * @param {{from: number, to: number}} options.gone addresses of what the rest has brought
 * @param {Uint8Array} options.before a copy of the memory before the program ran
 * @param {string} options.config the settings of those that will go on from it
 * @param {{at: number, start: number, name: string}[]} [options.refused] found of a NamesError, after which the module was cut again
 * @returns {Promise<Uint8Array>}
 * @throws {SnapshotError} naming what Go refers to and cannot be found again, or telling where it refers to the rest's tables
 */
export async function freeze({ go, instance, world, memory, gone, module, before, config, refused = [] }) {
  const globals = registers(instance);
  const functions = {};
  for (const [name, f] of Object.entries(globalThis.kubetabEngine)) functions[name] = world.functions.get(f);
  forgetFrames(gone, memory);
  refuseNames(gone, memory, refused);
  return encode(
    {
      module: hex(await sha256(module)),
      config,
      pages: memory.length / 65536,
      globals,
      nanotime: world.nanotime,
      walltime: world.walltime,
      values: values(go, world, (value) => {
        throw new SnapshotError(`Go holds a value without a name: ${String(value)} ${Object.keys(value)}`);
      }),
      counts: go._goRefCounts.map((count) => (Number.isFinite(count) ? count : null)),
      free: go._idPool,
      functions,
      nextTimer: go._nextCallbackTimeoutID,
      timers: [...world.timers].map(([id, due]) => [id, Math.max(0, (due - world.nanotime) / 1e6)]),
    },
    before,
    memory,
  );
}

/**
 * Zeroes what runtime.Caller has left of the rest's functions in slots of live stacks that nobody reads any more: values of
 * runtime.Frame. Its field Func points to what is known of the function, and so does its field funcInfo.
 */
function forgetFrames({ from, to }, memory) {
  const words = new Uint32Array(memory.buffer, 0, memory.length / 4);
  const frame = frameLayout(memory);
  const isGone = (at) => words[at] >= from && words[at] < to && words[at + 1] === 0;
  for (let i = 0; i + frame.size <= words.length; i += 2) {
    if (isGone(i + frame.func) && isGone(i + frame.name) && words[i + frame.known] === words[i + frame.func]) words.fill(0, i, i + frame.size);
  }
}

// How kubetabTables begins, what is in front of its layout: see wasm/split/layout.go.
const TABLES_MARK = '\0kubetab\0.tables';
const TABLES_LAYOUT = 8 * 11;

/**
 * The size of a runtime.Frame, and where its fields Func, Function and funcInfo are, in words of 32 bits: the first rows of
 * what the runtime tells of its layout.
 *
 * @throws {SnapshotError} where the runtime tells nothing, or what cannot be a Frame
 */
function frameLayout(memory) {
  const at = Buffer.from(memory.buffer, memory.byteOffset, memory.length).indexOf(TABLES_MARK, 0, 'latin1');
  if (at < 0) throw new SnapshotError('the runtime does not tell its layout: the module must be linked by build/patch/go');
  const row = (i) => Number(new DataView(memory.buffer, memory.byteOffset + at + TABLES_LAYOUT).getBigUint64(8 * i, true)) / 4;
  const [size, func, name, known] = [0, 1, 2, 3].map(row);
  if (![func, name, known].every((field) => field > 0 && field % 2 === 0 && field < size)) {
    throw new SnapshotError(`the runtime tells ${[size, func, name, known]} of its Frame`);
  }
  return { size, func, name, known };
}

/**
 * The one thing that a program could keep of what the rest has brought is the name of a function, or a part of one, as a
 * string. wasm/split leaves the names that the program keeps (named in parked.mjs) with the engine.
 *
 * What looks like such a string may be two numbers. Of a string, the address is another one as soon as the module has been cut
 * with its name in the engine; a number stays, and is in another name then.
 *
 * @param {{at: number, start: number, name: string}[]} refused what was found before the module was cut as it is
 * @throws {NamesError} with all of them
 */
function refuseNames({ from, to }, memory, refused) {
  const words = new Uint32Array(memory.buffer, 0, memory.length / 4);
  const all = new Uint8Array(memory.buffer);
  const found = [];
  for (let i = 0; i + 3 < words.length; i += 2) {
    const [start, length] = [words[i], words[i + 2]];
    if (words[i + 1] !== 0 || words[i + 3] !== 0 || start < from || start + length > to) continue;
    if (length < NAMES.shortest || length > NAMES.longest) continue;
    if (!all.subarray(start, start + length).every(isOfName)) continue;
    const [at, name] = [4 * i, nameAround(all, start)];
    if (!refused.some((before) => before.at === at && before.start === start && before.name !== name)) found.push({ at, start, name });
  }
  if (found.length > 0) throw new NamesError(found);
}

/** The whole name that an address is in: names end in a zero byte, and begin behind one. */
function nameAround(memory, at) {
  return new TextDecoder().decode(memory.subarray(memory.lastIndexOf(0, at) + 1, memory.indexOf(0, at)));
}

/** The program keeps names of functions that are the rest's. A module whose engine has these names can be frozen. */
export class NamesError extends SnapshotError {
  name = 'NamesError';

  /** @param {{at: number, start: number, name: string}[]} found where in memory the strings are, what they begin at, and in which names */
  constructor(found) {
    super(`the name ${found[0].name}, at ${found[0].at}, is the rest of the module's`);
    this.found = found;
  }
}

/** @throws {SnapshotError} for a module that was not linked by what wasm/patch makes of Go */
export function registers(instance) {
  const globals = Object.entries(instance.exports).filter(([name, item]) => item instanceof WebAssembly.Global && !name.startsWith(MARK));
  if (globals.length === 0) throw new SnapshotError('the module does not export its globals: it must be linked by build/patch/go');
  return Object.fromEntries(globals.map(([name, { value }]) => [name, String(value)]));
}

/** What each of Go's references means, as Header.values has it; those without a name are passed to unknown. */
function values(go, world, unknown) {
  const known = names();
  const free = new Set(go._idPool);
  return go._values.slice(7).map((value, i) => {
    if (free.has(i + 7)) return null;
    if (['string', 'number', 'boolean'].includes(typeof value)) return { value };
    if (world.functions.has(value)) return { func: world.functions.get(value) };
    if (known.has(value)) return { name: known.get(value) };
    if (!isSpent(value)) unknown(value);
    return { spent: true };
  });
}

// The arguments of a call of a function of Go's, and the event that brings them: syscall/js is done with both when the
// function has returned. Go packs two references into one block, so that one may stay for the sake of another.
function isSpent(value) {
  return Object.prototype.toString.call(value) === '[object Arguments]' || (typeof value === 'object' && 'id' in value && 'args' in value);
}

/** Whether Go holds nothing that has no name. What it is done with it lets go of some time after a collection. */
export function isNamed(go, world) {
  let all = true;
  values(go, world, () => (all = false));
  return all;
}
