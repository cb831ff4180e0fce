// The way from a module to its snapshot.

import { readFile } from 'node:fs/promises';
import { startEngine } from '../host/engine.mjs';
import { SnapshotError } from './format.mjs';
import { freeze, isNamed, registers, World } from './freeze.mjs';
import { FIRST_PC } from './parked.mjs';

// In seconds of the engine's world.
const START = 120; // it takes so long at most until it is ready,
const SETTLE = 60; // is then left alone, so that controllers have looked at everything and nodes have sent heartbeats,
const LET_GO = 30; // and lets go of what it is done with.

// The date is that of a time when all this is over: a snapshot of the future would have the clocks of those who go on from
// it show the future.
const BEFORE = START + 2 * SETTLE + 3 * LET_GO;

/**
 * Boots the engine and takes the snapshot of it once it rests. That engine stands still from then on.
 *
 * @param {object} options
 * @param {string} options.wasm path of the module
 * @param {object} [options.config] the settings of wasm/settings.go
 * @param {number} [options.date] in ms since 1970: what its wall clock shows in the end, or some minutes less
 * @param {{at: number, start: number, name: string}[]} [options.refused] see freeze
 * @param {(memory: Uint8Array) => void} [options.onMemory] called with the memory that is in it
 * @returns {Promise<Uint8Array>} the same for the same arguments
 * @throws {SnapshotError} when it cannot be frozen
 * @throws {Error} when it does not come to rest, or ends; with its log
 */
export async function takeSnapshot({ wasm, config = {}, date = 0, refused, onMemory }) {
  let go, instance, world, before;
  let log = '';
  const engine = await startEngine({
    wasm,
    config: { ...config, toBeFrozen: true },
    onLog: (text) => (log += text),
    onProgram: (program) => {
      go = program;
      world = new World(go, date - BEFORE * 1000);
    },
    onInstance: (i) => {
      instance = i;
      registers(i); // before anything is waited for
      before = new Uint8Array(i.exports.mem.buffer.slice(0));
    },
  });
  try {
    await world.pass(() => engine.stages.ready !== undefined, START);
    const ready = world.nanotime;
    await world.pass(() => world.nanotime > ready + SETTLE * 1e9 && engine.stats().requests === 0, 2 * SETTLE);
    globalThis.kubetabEngine.freeze();
    await world.pass(() => engine.stages.frozen !== undefined, LET_GO);
    globalThis.kubetabEngine.collect();
    const enough = world.nanotime + LET_GO * 1e9;
    await world.pass(() => isNamed(go, world) || world.nanotime > enough, 2 * LET_GO);
  } catch (error) {
    error.message = `${log}${error.message}`;
    throw error;
  }
  const { size, gone } = engine.leaveRest();
  if (gone.to > gone.from && (size > gone.from || gone.to > FIRST_PC)) {
    throw new SnapshotError(`what the rest brings is from ${gone.from} to ${gone.to}: the heap ends at ${size}, and program counters begin at ${FIRST_PC}`);
  }
  const memory = new Uint8Array(instance.exports.mem.buffer, 0, size);
  onMemory?.(memory);
  return freeze({ go, instance, world, memory, gone, module: await readFile(wasm), before, config: JSON.stringify(config), refused });
}
