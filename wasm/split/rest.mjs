// The second part of a module that wasm/split has cut. Needs neither Node nor a browser.

/**
 * Where what Go knows of the rest's functions is put in a program that will be frozen, in bytes: so far that its heap does
 * not come there. It is not in the snapshot.
 */
export const FAR = 0x5a5a_0000;

/**
 * @typedef {object} Left
 * @property {number} size of the memory that is left, in bytes
 * @property {{from: number, to: number}} gone addresses that mean nothing any more
 */

/**
 * Has a program fetch the rest of its module when it calls a function that is there. The program stands still meanwhile:
 * it is in the middle of a call.
 *
 * To be called before the module is instantiated with go.importObject; of a module that is whole nothing is asked.
 *
 * @param {object} go
 * @param {(slot: number) => Uint8Array} read returns the rest's bytes, for the function in that slot of the table. What
 *   it throws comes out of the call, and the program is of no use any more
 * @param {{toBeFrozen?: boolean}} [options]
 * @returns {{link: (instance: WebAssembly.Instance) => void, leave: () => Left}} link is to be called with the instance
 *   before the program runs; leave makes a program that will be frozen forget what it knows of the rest
 */
export function restOnDemand(go, read, { toBeFrozen = false } = {}) {
  let engine;
  let own = {};
  let end = FAR;
  const rest = (slot) => {
    const module = new WebAssembly.Module(read(slot));
    const { mem } = engine.exports;
    const bringsTables = WebAssembly.Module.exports(module).length > 0;
    if (bringsTables && toBeFrozen) mem.grow((FAR - mem.buffer.byteLength) / 65536);
    // One of another build cannot be linked with the engine: they have no common name for the table.
    own = new WebAssembly.Instance(module, { engine: engine.exports }).exports;
    if (toBeFrozen) end = mem.buffer.byteLength;
    else own.settle?.();
    go.mem = new DataView(mem.buffer); // it has grown
  };
  go.importObject.kubetab = { ...go.importObject.kubetab, rest };
  return {
    link: (instance) => {
      engine = instance;
    },
    leave: () => ({ size: own.leave?.() ?? engine.exports.mem.buffer.byteLength, gone: { from: FAR, to: end } }),
  };
}
