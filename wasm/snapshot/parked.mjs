// Which functions are on stacks.

// A program counter of Go's on wasm is the function's slot in the table, shifted by so many bits, and the block within it
// that is to be entered: never the first, where a call begins, for one that has been called and will go on.
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
