// The second part of a module that wasm/split has cut. Needs neither Node nor a browser.

/**
 * Has a program fetch the rest of its module when it calls a function that is there. The program stands still meanwhile:
 * it is in the middle of a call.
 *
 * To be called before the module is instantiated with go.importObject; of a module that is whole nothing is asked.
 *
 * @param {object} go
 * @param {(slot: number) => Uint8Array} read returns the rest's bytes, for the function in that slot of the table. What
 *   it throws comes out of the call, and the program is of no use any more
 * @returns {(instance: WebAssembly.Instance) => void} to be called with the instance before the program runs
 */
export function restOnDemand(go, read) {
  let engine;
  const rest = (slot) => {
    // One of another build cannot be linked with the engine: they have no common name for the table.
    new WebAssembly.Instance(new WebAssembly.Module(read(slot)), { engine: engine.exports });
  };
  go.importObject.kubetab = { rest };
  return (instance) => {
    engine = instance;
  };
}
