/** What a block of code is. */
export type Kind = 'shell' | 'yaml';

/** Lines of a block that are numbers, as Hugo, Docusaurus and others write them. */
const NUMBERS = '.ln, .lnt, .lnlinks, .line-numbers, .line-number, [data-line-number]';

/** The text of a block as it was written, whatever a highlighter has made of it. */
export function sourceOf(code: Element): string {
  const copy = code.cloneNode(true) as Element;
  for (const number of copy.querySelectorAll(NUMBERS)) number.remove();
  for (const end of copy.querySelectorAll('br')) end.replaceWith('\n');
  return (copy.textContent ?? '').replaceAll('\u00a0', ' ').replace(/\n+$/, '');
}

/** By the class that highlighters go by, on the block or around it, else by how the text begins. */
export function kindOf(code: Element, text: string): Kind {
  const named = code.closest('[class*="language-"], [data-lang], [syntax]');
  const name =
    named?.getAttribute('data-lang') ?? /language-(\w+)/.exec(named?.className ?? '')?.[1] ?? '';
  if (/^ya?ml$/.test(name)) return 'yaml';
  if (name) return 'shell';
  return /^(---|apiVersion:|kind:)/m.test(text) ? 'yaml' : 'shell';
}

/**
 * The lines to run. Of a session, which has prompts, those after a prompt: the others are what was printed.
 *
 *   $ kubectl get pods        kubectl get pods
 *   NAME    READY   STATUS
 */
export function linesOf(text: string): string {
  const all = text.split('\n');
  if (!all.some((line) => /^\s*\$ /.test(line))) return text;
  let goesOn = false;
  return all
    .filter((line) => {
      const isLine = goesOn || /^\s*\$ /.test(line);
      goesOn = isLine && line.endsWith('\\');
      return isLine;
    })
    .map((line) => line.replace(/^\s*[$>] /, ''))
    .join('\n');
}
