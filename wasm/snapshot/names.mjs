// The names by which JavaScript values are found again in another process.

// Below these there are more names: wasm_exec.js and Go's packages hold some of what is there.
const PARENTS = ['fs', 'process', 'path'];

/** Names of what globalThis leads to, shortest first. @returns {Map<unknown, string>} */
export function names() {
  const found = new Map();
  const add = (value, name) => {
    const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
    if (isObject && !found.has(value)) found.set(value, name);
  };
  for (const name of Object.getOwnPropertyNames(globalThis)) add(globalThis[name], name);
  for (const parent of PARENTS) {
    for (const name of Object.getOwnPropertyNames(globalThis[parent] ?? {})) add(globalThis[parent][name], `${parent}.${name}`);
  }
  return found;
}

/** What has the name here; undefined when nothing has. */
export const named = (name) => name.split('.').reduce((object, key) => object?.[key], globalThis);
