import { nameIn } from '../files/workspace/workspace';
import type { SharedFile } from './link';

/** What is going to be made of one file of a link. */
export interface Planned extends SharedFile {
  /**
   * - `new`: added under its name
   * - `renamed`: its name is taken, and it is added under `to`
   * - `same`: it is there already, word for word
   * - `refused`: its name is none that a link may bring
   */
  readonly fate: 'new' | 'renamed' | 'same' | 'refused';
  readonly to: string;
}

/**
 * No existing file is changed: a new file whose name is taken gets another name.
 *
 * @param there the files of the editor
 * @param others paths of files that the editor does not show
 */
export function planOf(
  shared: readonly SharedFile[],
  there: readonly SharedFile[],
  others: readonly string[],
): readonly Planned[] {
  const taken = [...there.map(({ path }) => path), ...others];
  return shared.map((file) => {
    if (isHostile(file.path)) return { ...file, fate: 'refused', to: '' };
    const isSame = there.some(({ path, text }) => path === file.path && text === file.text);
    if (isSame) return { ...file, fate: 'same', to: file.path };
    const to = nameIn(taken, file.path);
    taken.push(to);
    return { ...file, fate: to === file.path ? 'new' : 'renamed', to };
  });
}

/**
 * Names that a manifest never has and that could do harm: names that lead out of the folder; hidden names, because a
 * shell runs some hidden files by itself; names with a dash first, because commands take them for options; names with
 * letters that cannot be seen or turn others around, because people misread them.
 */
export function isHostile(path: string): boolean {
  const parts = path.split('/');
  return (
    path.length > 200 ||
    parts.some((part) => part === '' || /^[.-]/.test(part) || part !== part.trim()) ||
    /[\p{C}\p{Zl}\p{Zp}\\]/u.test(path)
  );
}
