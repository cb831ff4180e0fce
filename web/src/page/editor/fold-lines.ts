/** Lines to fold, counted from 1; `tail` characters at the end of the last stay visible (its bracket and comma). */
export interface FoldRange {
  readonly first: number;
  readonly last: number;
  readonly tail: number;
}

/**
 * Finds the blocks of JSON that is laid out with one bracket per line, by the number of their first line. Looks at
 * lines and not at a syntax tree, because the tree of a large answer is not there yet when it is first shown.
 */
export function blocks(lines: Iterable<string>): Map<number, FoldRange> {
  const found = new Map<number, FoldRange>();
  const open: number[] = [];
  let number = 0;
  for (const line of lines) {
    number++;
    const text = line.trimStart();
    if (text.startsWith('}') || text.startsWith(']')) {
      const first = open.pop();
      if (first !== undefined) found.set(first, { first, last: number, tail: text.length });
    }
    if (text.endsWith('{') || text.endsWith('[')) open.push(number);
  }
  return found;
}
