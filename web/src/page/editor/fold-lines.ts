/** Lines to fold, counted from 1; `tail` characters at the end of the last stay visible (its bracket and comma). */
export interface FoldRange {
  readonly first: number;
  readonly last: number;
  readonly tail: number;
}

/**
 * Finds blocks in JSON that is laid out with one bracket per line: from a line that matches `opening` to the next line
 * of the same indentation. Looks at lines and not at a syntax tree, because the tree of a large answer is not there yet
 * when it is first shown.
 *
 * @param most ranges to look for; a list of a thousand objects is folded at its beginning only
 */
export function foldable(lines: Iterable<string>, opening: RegExp, most: number): FoldRange[] {
  const found: FoldRange[] = [];
  let number = 0;
  let open: { first: number; indent: number } | null = null;
  for (const line of lines) {
    number++;
    const indent = line.length - line.trimStart().length;
    if (open) {
      if (indent > open.indent) continue;
      found.push({ first: open.first, last: number, tail: line.length - indent });
      open = null;
      if (found.length >= most) break;
    } else if (opening.test(line)) {
      open = { first: number, indent };
    }
  }
  return found;
}
