// Which functions are on stacks, or named in memory.

// A program counter of Go's on wasm is the function's slot in the table, shifted by so many bits, and the block within it
// that is to be entered: never the first, where a call begins, for one that has been called and will go on. wasm/split refuses a
// module in which it is not.
const BLOCK_BITS = 16;

/** The least of them: cmd/link counts functions from 0x1000 on. */
export const FIRST_PC = 0x1000 * 2 ** BLOCK_BITS;

// Far more slots than there are functions.
const SLOTS = 1 << 20;

/**
 * The slots of functions that are on some stack in memory, as Go sees it between two events: all words that could be a
 * program counter are taken for one.
 *
 * @param {Uint8Array} memory of the whole program
 * @returns {number[]} in ascending order; more than there are
 */
export function parked(memory) {
  const words = new Uint32Array(memory.buffer, memory.byteOffset, memory.byteLength / 4);
  const high = 2 ** (32 - BLOCK_BITS);
  const found = new Uint8Array(SLOTS);
  for (let i = 0; i < words.length; i += 2) {
    const slot = words[i + 1] * high + (words[i] >>> BLOCK_BITS);
    if (slot < SLOTS && words[i] % 2 ** BLOCK_BITS !== 0) found[slot] = 1;
  }
  const slots = [];
  for (let slot = 0; slot < SLOTS; slot++) if (found[slot]) slots.push(slot);
  return slots;
}

// The shortest and the longest names of functions that are looked for.
export const NAMES = { shortest: 4, longest: 500 };

/**
 * The strings in memory that could be names of functions: runtime.Caller and what prints stacks make strings of the names
 * in Go's tables, in which each ends with a zero.
 *
 * @param {Uint8Array} memory of the whole program, with all tables in it
 * @returns {string[]} in ascending order; more than there are
 */
export function named(memory) {
  const words = new Uint32Array(memory.buffer, memory.byteOffset, memory.byteLength / 4);
  const found = new Set();
  for (let i = 0; i + 3 < words.length; i += 2) {
    const [start, length] = [words[i], words[i + 2]];
    if (words[i + 1] !== 0 || words[i + 3] !== 0 || length < NAMES.shortest || length > NAMES.longest) continue;
    if (start === 0 || start + length >= memory.length || memory[start - 1] !== 0 || memory[start + length] !== 0) continue;
    const bytes = memory.subarray(start, start + length);
    if (bytes.every(isOfName)) found.add(new TextDecoder().decode(bytes));
  }
  return [...found].sort();
}

/** Whether a byte is printed and leaves no gap, as all of a name do. */
export const isOfName = (byte) => byte > 0x20 && byte < 0x7f;
