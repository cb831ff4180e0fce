// Which functions a module calls that wasm/split has marked. Needs neither Node nor a browser.

/** How the names of the marks begin among the module's exports. */
export const MARK = 'mark ';

/** How many functions have their marks in one export. */
const EACH = 32;

/** How often what has been called should be written down, in ms: whoever runs an engine may kill it. */
export const EVERY = 2000;

/**
 * Starts to note what is called. Only make profile does, with a module that has marks.
 *
 * @param {WebAssembly.Instance} instance
 * @returns {(() => number[]) | undefined} the numbers of the functions that have been called since; undefined for a
 *   module without marks
 */
export function noteCalls({ exports }) {
  const marks = Object.keys(exports).filter((name) => name.startsWith(MARK));
  if (marks.length === 0) return undefined;
  for (const name of marks) exports[name].value = 0;
  return () => {
    const called = [];
    for (const name of marks) {
      const first = EACH * Number(name.slice(MARK.length));
      for (let bit = 0; bit < EACH; bit++) if (exports[name].value & (1 << bit)) called.push(first + bit);
    }
    return called;
  };
}
