// What Go calls for every request: functions that the module imports by name, with numbers and places in its memory for
// arguments. Through syscall/js the same takes a dozen calls, and an object with a finalizer for each value.

const decoder = new TextDecoder();

/**
 * Lets the program call its host. To be called before the module is instantiated with go.importObject. See
 * wasm/boundary/host_js.go for the other side.
 *
 * @param {object} go
 * @param {object} host the program's kubetabHost: when it calls, globalThis may have that of another
 */
export function answerCalls(go, host) {
  // Beyond 2 GiB an address is a negative number here: WebAssembly's are unsigned, and JavaScript is given signed ones.
  const bytes = (at, size) => new Uint8Array(go.mem.buffer, at >>> 0, size);
  const text = (at, size) => decoder.decode(bytes(at, size));
  // An exception would unwind Go's frames, and leave its stacks in a state from which nothing can go on.
  const call = (f) => (...args) => {
    try {
      f(...args);
      return 0;
    } catch (error) {
      console.error('kubetab: the host failed:', error);
      return 1;
    }
  };
  go.importObject.kubetab = {
    ...go.importObject.kubetab,
    head: call((id, status, at, size) => {
      host.head(id, status, size === 0 ? [] : text(at, size).split('\n'));
    }),
    chunk: call((id, at, size) => host.chunk(id, bytes(at, size).slice())),
    end: call((id) => host.end(id)),
    abort: call((id, at, size) => host.abort(id, text(at, size))),
    pull: call((id) => host.pull(id)),
  };
}
