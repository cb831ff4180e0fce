/**
 * The name of something that a browser keeps for an origin: a database, a cache, an item of storage, a channel. A copy of
 * the page is at home in a folder, and another copy on the same origin in another one. Each copy uses its own names alone.
 *
 *   /                kubetab-page-0123456789ab
 *   /docs/kubetab/   /docs/kubetab/ kubetab-page-0123456789ab
 *
 * No path of an address has a space, and no name begins with a slash: names of two folders never begin alike.
 *
 * @param folder path of the site, with a slash at its beginning and end
 */
export function nameIn(folder: string, name: string): string {
  return folder === '/' ? name : `${folder} ${name}`;
}
