// The parts of a module that wasm/split has cut, beside the engine: what comes soon, and the rest. Needs neither Node nor a
// browser.

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
 * @typedef {object} Part
 * @property {(slot: number) => Uint8Array} read returns the part's bytes, while the program stands still in the middle of a
 *   call of the function in that slot of the table. What it throws comes out of the call, and the program is of no use any
 *   more
 * @property {(slot: number) => Promise<WebAssembly.Module>} [get] fetches and compiles the part, for the function in that
 *   slot, or for none of them if it is -1. To be given with Later
 */

/**
 * Has parts brought while the program runs. The goroutine that has called a function of one waits, and everything else
 * goes on.
 *
 * @typedef {object} Later
 * @property {() => boolean} canWait whether `arrived` and `missing` can be called yet
 * @property {() => void} arrived lets the program go on
 * @property {(why: string) => void} missing tells the program that a part could not be had. It is called once for each
 *   failure, and the part is asked for again some time later
 * @property {(retry: () => void, ms: number) => void} after calls retry after so many milliseconds, or sooner when there
 *   is reason to believe that it may succeed now. Calls beyond the first do nothing
 */

/** How long to wait before a part is asked for again after a failure, in ms: doubled each time, up to the last. */
const FIRST_WAIT = 1000;
const LAST_WAIT = 8000;

/** So many callers are told of a failure at once; others wait for the next attempt. Each leaves a goroutine behind. */
const TOLD_AT_ONCE = 100;

/**
 * Has a program fetch the parts of its module when it calls a function that is not there. Of a module that is whole nothing
 * is asked.
 *
 * Parts come in their order, because only the first may call what is not there. A function of the second that is called
 * before the first has come is asked for again by the program then.
 *
 * The goroutine that calls the function waits, where `later` is given and the goroutine can be parked. Otherwise the whole
 * program stands still.
 *
 * To be called before the module is instantiated with go.importObject.
 *
 * @param {object} go
 * @param {Part[]} parts one of them, or both
 * @param {{toBeFrozen?: boolean, later?: Later}} [options]
 * @returns {{link: (instance: WebAssembly.Instance) => void, put: (module: WebAssembly.Module) => void, bring: () => void, leave: () => Left}}
 *   link is to be called with the instance before the program runs. put adds the next part, which is at hand. bring begins to fetch the first of two parts, once the program runs and unless it
 *   is there or on its way; without `later` it does nothing. leave makes a program that will be frozen forget what it knows
 *   of the rest
 */
export function partsOnDemand(go, parts, { toBeFrozen = false, later } = {}) {
  let engine;
  let own = {};
  let end = FAR;
  let here = 0; // parts that have come
  let heapEnd = () => 0; // counted without what is put far away
  const stayBefore = (bytes) => {
    if (bytes > FAR) throw new Error(`${bytes >> 20} MiB of memory are too much for a program that will be frozen: it has ${FAR >> 20}`);
  };
  if (toBeFrozen) {
    // Go takes memory to be in one piece, and would come to the block without knowing.
    const { gojs } = go.importObject;
    const reset = gojs['runtime.resetMemoryDataView'];
    gojs['runtime.resetMemoryDataView'] = (...all) => {
      reset(...all);
      stayBefore(heapEnd());
    };
  }
  const add = (module) => {
    const { mem } = engine.exports;
    const bringsTables = WebAssembly.Module.exports(module).length > 0;
    const heap = mem.buffer.byteLength;
    if (bringsTables && toBeFrozen) {
      stayBefore(heap);
      mem.grow((FAR - heap) / 65536);
    }
    // One of another build cannot be linked with the engine: they have no common name for the table.
    const { exports } = new WebAssembly.Instance(module, { engine: engine.exports });
    here++;
    if (!bringsTables) return;
    own = exports;
    if (toBeFrozen) {
      end = mem.buffer.byteLength;
      heapEnd = () => heap + mem.buffer.byteLength - end;
    } else own.settle();
    go.mem = new DataView(mem.buffer); // it has grown
  };
  const ask = later && asker(later, async (slot) => {
    const next = here;
    // A single failure is no news: a connection was cut, a proxy had a hiccup.
    const module = await parts[next].get(slot).catch(() => parts[next].get(slot));
    if (here === next) add(module); // a goroutine that could not wait may have been quicker
  });
  const part = (slot, isNow) => {
    if (here === parts.length) return 1;
    if (!isNow && later?.canWait()) {
      ask(slot);
      return 0;
    }
    add(new WebAssembly.Module(parts[here].read(slot)));
    return 1;
  };
  go.importObject.kubetab = { ...go.importObject.kubetab, rest: part };
  return {
    link: (instance) => {
      engine = instance;
    },
    put: add,
    bring: () => {
      if (parts.length > 1 && here === 0 && later?.canWait()) ask(-1);
    },
    leave: () => ({ size: own.leave?.() ?? engine.exports.mem.buffer.byteLength, gone: { from: FAR, to: end } }),
  };
}

/**
 * Returns a function that begins to fetch the next part and does not give up until it is there. Called while that goes on it
 * does nothing; called between a failure and the next attempt it tells the program of the failure, unless it has done so
 * often.
 */
function asker({ arrived, missing, after }, addNext) {
  let isAsking = false;
  let failure; // of the last attempt, until the next one begins
  let wait = FIRST_WAIT;
  let told = 0;
  const attempt = async (slot) => {
    isAsking = true;
    failure = undefined;
    try {
      await addNext(slot);
    } catch (error) {
      isAsking = false;
      failure = error instanceof Error ? error.message : String(error);
      missing(failure);
      after(() => attempt(slot), wait);
      wait = Math.min(2 * wait, LAST_WAIT);
      return;
    }
    isAsking = false;
    [wait, told] = [FIRST_WAIT, 0];
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
