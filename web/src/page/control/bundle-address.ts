/*
 * A bundle at an address: ?bundle=ADDRESS. A link with one can come from anybody.
 */

/** Why a bundle is not fetched. */
export class NotFetched extends Error {
  readonly reason: 'address' | 'elsewhere' | 'too-large' | 'failed';

  constructor(reason: NotFetched['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * What `?bundle=` names, taken out of the page's address so that a reload does not ask again.
 *
 * @param page the page's address
 * @returns null when there is none
 * @throws NotFetched for what is no address of a file on the web, and for another site's: the page asks its own site and no
 *   other, as its content security policy says, so that a script in it can send nothing away
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
  if (source.origin !== page.origin) throw new NotFetched('elsewhere', source.href);
  return source;
}

/**
 * Fetches a file, without credentials, and no more of it than is wanted.
 *
 * @param most in bytes
 * @throws NotFetched
 */
export async function fetchFile(source: URL, most: number): Promise<File> {
  let answer: Response;
  try {
    answer = await fetch(source, { credentials: 'omit', referrerPolicy: 'no-referrer' });
  } catch (error) {
    throw new NotFetched('failed', String(error));
  }
  if (!answer.ok) throw new NotFetched('failed', `${answer.status} ${answer.statusText}`.trim());
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reader = answer.body?.getReader();
  let size = 0;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > most) {
      await reader.cancel();
      throw new NotFetched('too-large', source.href);
    }
    parts.push(value);
  }
  return new File(parts, decodeURIComponent(source.pathname.split('/').pop() ?? ''));
}
