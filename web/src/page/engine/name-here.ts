import { nameIn } from '../../client/folder';

/** Where there is no document, as in unit tests, no other copy of the page is either. */
const folder = typeof document === 'undefined' ? '/' : new URL('./', document.baseURI).pathname;

/** The name of something that this copy of the page keeps in the browser: another copy may be on the same origin. */
export function nameHere(name: string): string {
  return nameIn(folder, name);
}
