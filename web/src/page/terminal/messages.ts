/**
 * What the shell tells the page between the bytes for the screen: OSC sequences with this number, a kind, and fields in
 * base64. The engine drops such sequences in the output of commands, so that a log line cannot send messages to the
 * page.
 */
export const MESSAGE_OSC = 7373;

export type ShellMessage =
  /** A line was entered. */
  | { readonly kind: 'history'; readonly line: string }
  /** A command waits until a file has been edited: see `finishEdit`. */
  | { readonly kind: 'edit'; readonly token: string; readonly path: string }
  /** A command waits until a script has ended: see script/for-terminal.ts. */
  | { readonly kind: 'script'; readonly token: string }
  /** A command waits for a file of another site: see elsewhere/for-terminal.ts. */
  | { readonly kind: 'download'; readonly token: string }
  /** Nobody waits for this edit, or download, any more. */
  | { readonly kind: 'over'; readonly token: string };

/** The message in the text of an OSC sequence, or null for one of a later version. */
export function parseMessage(text: string): ShellMessage | null {
  const [kind, ...encoded] = text.split(';');
  const fields: string[] = [];
  for (const field of encoded) {
    try {
      fields.push(new TextDecoder().decode(Uint8Array.from(atob(field), (c) => c.charCodeAt(0))));
    } catch {
      return null;
    }
  }
  const [first, second] = fields;
  if (first === undefined) return null;
  if (kind === 'history') return { kind, line: first };
  if (kind === 'over' || kind === 'script' || kind === 'download') return { kind, token: first };
  if (kind === 'edit' && second !== undefined) return { kind, token: first, path: second };
  return null;
}
