const INDENT = '  ';

/**
 * Lays JSON out over lines without reading it as values: numbers beyond 2^53, repeated keys and the order of keys stay
 * as the server wrote them, which JSON.parse and JSON.stringify would change.
 *
 * @returns the text laid out, or the text itself when it is not JSON from end to end
 */
export function prettyJson(text: string): string {
  const out: string[] = [];
  const open: string[] = [];
  const line = () => `\n${INDENT.repeat(open.length)}`;
  let i = 0;
  while (i < text.length) {
    const c = text[i] as string;
    if (c === '"') {
      const end = endOfString(text, i);
      if (end < 0) return text;
      out.push(text.slice(i, end));
      i = end;
      continue;
    }
    if (c === '{' || c === '[') {
      const close = c === '{' ? '}' : ']';
      const next = skipSpace(text, i + 1);
      if (text[next] === close) {
        out.push(c, close);
        i = next + 1;
        continue;
      }
      open.push(close);
      out.push(c, line());
    } else if (c === '}' || c === ']') {
      if (open.pop() !== c) return text;
      out.push(line(), c);
    } else if (c === ',') {
      out.push(c, line());
    } else if (c === ':') {
      out.push(': ');
    } else if (!isSpace(c)) {
      let end = i + 1;
      while (end < text.length && /[^\s,:{}[\]"]/.test(text[end] as string)) end++;
      out.push(text.slice(i, end));
      i = end;
      continue;
    }
    i++;
  }
  return open.length === 0 ? out.join('') : text;
}

/** The index after the closing quote of the string that begins at `at`, or -1 when it has none. */
function endOfString(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 92 /* \ */) i++;
    else if (c === 34 /* " */) return i + 1;
  }
  return -1;
}

function skipSpace(text: string, at: number): number {
  let i = at;
  while (i < text.length && isSpace(text[i] as string)) i++;
  return i;
}

function isSpace(c: string): boolean {
  return c === ' ' || c === '\n' || c === '\t' || c === '\r';
}
