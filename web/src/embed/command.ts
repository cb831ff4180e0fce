import type { Block } from './block';
import { listOf } from './dom';
import { textOf } from './engine';
import { heredoc, written } from './run';
import { localFiles, samplesIn } from './samples';
import { linesOf } from './source';
import type { Words } from './words';

/** Where the field of a snippet's code is said to be `##CODE##`. */
const CODE = '##CODE##';

/**
 * The lines of shell that a snippet runs: those of its block, in its template, with its
 * files.
 *
 * @throws Error with a sentence when one of these is not there
 */
export async function commandOf(snippet: Element, block: Block, words: Words): Promise<string> {
  const files = listOf(snippet, 'files').map(async (name) => {
    const { from, path } = fileNamed(name);
    return [path, await textOf(from, words)] as const;
  });
  const { code, kind } = block;
  const samples = kind === 'shell' ? samplesIn(code) : [];
  const before = [...(await Promise.all(files)), ...samples].map(written).join('');
  const template = snippet.getAttribute('template');
  const text = template ? (await textOf(template, words)).replace(CODE, () => code) : code;
  return kind === 'yaml'
    ? `${before}kubectl apply -f - ${heredoc(text)}`
    : before + localFiles(linesOf(text));
}

/**
 * A word of the attribute `files`: `#id` or an address, and `:NAME` behind it to call it so.
 *
 *   #manifest:shop.yaml                 https://docs.example:8443/shop.yaml:here.yaml
 */
export function fileNamed(word: string): { readonly from: string; readonly path: string } {
  const [, from = '', as] = /^([^:]*(?::\/\/[^:]*(?::\d+[^:]*)?)?)(?::(.*))?$/.exec(word) ?? [];
  return { from, path: as ?? from.replace(/^#|.*\//g, '') };
}
