// The second part of a module that wasm/split has cut. Needs neither Node nor a browser.

/**
 * Where what Go knows of the rest's functions is put in a program that will be frozen, in bytes: so far that its heap does
 * not come there. It is not in the snapshot, and wasm/snapshot looks for its addresses in memory. Memory is full of program
 * counters, on stacks and in tables of methods, and none may look like such an address: it ends before the first of them.
 */
export const FAR = 0x0e00_0000;

/**
 * @typedef {object} Left
 * @property {number} size of the memory that is left, in bytes
 * @property {{from: number, to: number}} gone addresses that mean nothing any more
 */

/**
 * Brings the rest while the program runs. The goroutine that has called a function of the rest waits, and everything else
 * goes on.
 *
 * @typedef {object} Later
 * @property {() => boolean} canWait whether `arrived` and `missing` can be called yet
 * @property {(slot: number) => Promise<WebAssembly.Module>} get fetches and compiles the rest, for the function in that
 *   slot of the table
 * @property {() => void} arrived lets the program go on
 * @property {(why: string) => void} missing tells the program that the rest could not be had. It is called once for each
 *   failure, and the rest is asked for again some time later
 * @property {(retry: () => void, ms: number) => void} after calls retry after so many milliseconds, or sooner when there
 *   is reason to believe that it may succeed now. Calls beyond the first do nothing
 */

/** How long to wait before the rest is asked for again after a failure, in ms: doubled each time, up to the last. */
const FIRST_WAIT = 1000;
const LAST_WAIT = 8000;

/** So many callers are told of a failure at once; others wait for the next attempt. Each leaves a goroutine behind. */
const TOLD_AT_ONCE = 100;

/**
 * Has a program fetch the rest of its module when it calls a function that is there. Of a module that is whole nothing is
 * asked.
 *
 * The goroutine that calls the function waits, where `later` is given and the goroutine can be parked. Otherwise the whole
 * program stands still, in the middle of a call, while `read` returns the bytes.
 *
 * To be called before the module is instantiated with go.importObject.
 *
 * @param {object} go
 * @param {(slot: number) => Uint8Array} read returns the rest's bytes, for the function in that slot of the table. What
 *   it throws comes out of the call, and the program is of no use any more
 * @param {{toBeFrozen?: boolean, later?: Later}} [options]
 * @returns {{link: (instance: WebAssembly.Instance) => void, leave: () => Left}} link is to be called with the instance
 *   before the program runs; leave makes a program that will be frozen forget what it knows of the rest
 */
export function restOnDemand(go, read, { toBeFrozen = false, later } = {}) {
  let engine;
  let own = {};
  let end = FAR;
  let isHere = false;
  const add = (module) => {
    const { mem } = engine.exports;
    const bringsTables = WebAssembly.Module.exports(module).length > 0;
    if (bringsTables && toBeFrozen) mem.grow((FAR - mem.buffer.byteLength) / 65536);
    // One of another build cannot be linked with the engine: they have no common name for the table.
    own = new WebAssembly.Instance(module, { engine: engine.exports }).exports;
    if (toBeFrozen) end = mem.buffer.byteLength;
    else own.settle?.();
    go.mem = new DataView(mem.buffer); // it has grown
    isHere = true;
  };
  const ask = later && asker(later, (module) => {
    if (!isHere) add(module); // a goroutine that could not wait may have been quicker
  });
  const rest = (slot, isNow) => {
    if (!isHere && !isNow && later?.canWait()) ask(slot);
    else if (!isHere) add(new WebAssembly.Module(read(slot)));
    return isHere ? 1 : 0;
  };
  go.importObject.kubetab = { ...go.importObject.kubetab, rest };
  return {
    link: (instance) => {
      engine = instance;
    },
    leave: () => ({ size: own.leave?.() ?? engine.exports.mem.buffer.byteLength, gone: { from: FAR, to: end } }),
  };
}

/**
 * Returns a function that begins to fetch the rest and does not give up until it is there. Called while that goes on it does
 * nothing; called between a failure and the next attempt it tells the program of the failure, unless it has done so often.
 */
function asker({ get, arrived, missing, after }, add) {
  let isAsking = false;
  let failure; // of the last attempt, until the next one begins
  let wait = FIRST_WAIT;
  let told = 0;
  const attempt = async (slot) => {
    isAsking = true;
    failure = undefined;
    try {
      // A single failure is no news: a connection was cut, a proxy had a hiccup.
      add(await get(slot).catch(() => get(slot)));
    } catch (error) {
      isAsking = false;
      failure = error instanceof Error ? error.message : String(error);
      missing(failure);
      after(() => attempt(slot), wait);
      wait = Math.min(2 * wait, LAST_WAIT);
      return;
    }
    arrived();
  };
  return async (slot) => {
    if (isAsking) return;
    if (failure === undefined) return attempt(slot);
    if (++told > TOLD_AT_ONCE) return;
    await undefined; // the goroutine that calls is parked when the program returns to JavaScript
    if (failure !== undefined) missing(failure);
  };
}
