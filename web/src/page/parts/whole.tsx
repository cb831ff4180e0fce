import type { ComponentChildren } from 'preact';

/** Up to so many characters fit into a line of the narrowest phone. */
const LONGEST = 24;

/** Words of code that a line would break at a hyphen or a slash, each kept in one line. */
export function whole(code: string): ComponentChildren[] {
  return code.split(/(\s+)/).map((word) => {
    const isKept = word.length <= LONGEST && /[-/]/.test(word);
    return isKept ? <span class="whole">{word}</span> : word;
  });
}
