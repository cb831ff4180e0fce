/*
 * A bundle at an address: ?bundle=ADDRESS. A link with one can come from anybody.
 */

import { fetchElsewhere, NotFetched } from '../../elsewhere/fetch';

/**
 * What `?bundle=` names, taken out of the page's address so that a reload does not ask again.
 *
 * @param page the page's address
 * @returns null when there is none
 * @throws NotFetched for what is no address of a file on the web
 */
export function takeSource(page: URL): URL | null {
  const wanted = page.searchParams.get('bundle');
  if (wanted === null) return null;
  page.searchParams.delete('bundle');
  const base = new URL(page.href);
  base.search = base.hash = '';
  if (!URL.canParse(wanted, base.href)) throw new NotFetched('address', wanted);
  const source = new URL(wanted, base.href);
  if (!['https:', 'http:'].includes(source.protocol) || source.username || source.password) {
    throw new NotFetched('address', wanted);
  }
  return source;
}

/**
 * Fetches a file, without credentials, and no more of it than is wanted.
 *
 * @param most in bytes
 * @throws NotFetched
 */
export async function fetchFile(source: URL, most: number): Promise<File> {
  const { answer, parts } = await fetchElsewhere(source, most);
  if (!answer.ok) throw new NotFetched('failed', `${answer.status} ${answer.statusText}`.trim());
  return new File(parts, decodeURIComponent(source.pathname.split('/').pop() ?? ''));
}
