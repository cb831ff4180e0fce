/** Where in a document the cursor is. */
export interface Place {
  /** Keys from the root, with 0 for any item of a list, to the map that the line belongs to. */
  readonly path: readonly (string | number)[];
  /** The key on the line, as far as it has been written; the value after it, or null before the colon. */
  readonly key: string;
  readonly value: string | null;
}

interface Line {
  /** Columns of the dash of a list item and of the key; the dash is -1 where there is none. */
  readonly dash: number;
  readonly column: number;
  readonly key: string;
  readonly value: string | null;
}

function read(text: string): Line | null {
  const found = /^( *)((?:- +|-$)*)(.*)$/.exec(text);
  if (!found) return null;
  const [, indent = '', dashes = '', rest = ''] = found;
  if (rest.startsWith('#') || (rest === '' && dashes === '')) return null;
  const column = indent.length + dashes.length + (dashes === '-' ? 1 : 0);
  const dash = dashes ? indent.length + dashes.trimEnd().length - 1 : -1;
  const pair = /^("(?:[^"\\]|\\.)*"|'[^']*'|[^:#]*?)\s*:(?:\s+(.*))?$/.exec(rest);
  if (!pair) return { dash, column, key: rest, value: null };
  const key = (pair[1] ?? '').replace(/^(["'])(.*)\1$/, '$2');
  return { dash, column, key, value: pair[2] ?? '' };
}

/**
 * Finds the place by indentation alone: while a document is being written, a parser often has no tree for it.
 *
 * @param lines those of the document up to and with the cursor's, the last cut at the cursor
 */
export function placeAt(lines: readonly string[]): Place {
  const text = lines[lines.length - 1] ?? '';
  const empty = { dash: -1, column: text.length, key: '', value: null };
  const current = read(text) ?? empty;
  const path: (string | number)[] = [];
  let limit = current.column;
  let dash = current.dash;
  for (let i = lines.length - 2; i >= 0 && (limit > 0 || dash >= 0); i--) {
    const line = read(lines[i] ?? '');
    if (!line) continue;
    if (dash >= 0) {
      // Inside an item: its list is the value of a key that stands no deeper than the dash.
      const isParent = line.column <= dash && line.value !== null && !(line.dash === dash);
      if (!isParent) continue;
      path.unshift(line.key, 0);
      limit = line.column;
      dash = line.dash;
    } else if (line.column < limit && line.value !== null) {
      path.unshift(line.key);
      limit = line.column;
      dash = line.dash;
    } else if (line.column === limit && line.dash >= 0) {
      dash = line.dash; // the first line of the same item
    }
  }
  return { path, key: current.key, value: current.value };
}
