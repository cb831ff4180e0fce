/*
 * Files of other sites, which the page can read where its host and theirs let it.
 */

import { piecesOf } from '../../client/pieces';

/**
 * Why a file is not fetched:
 *
 * - `elsewhere`: the content security policy of the page does not have the site. A host allows what it chooses, because a
 *   script in the page could send something there: docs/hosting.md
 * - `unshared`: another site did not answer, or does not let pages of other sites read its files. A browser does not say which
 */
export class NotFetched extends Error {
  readonly reason: 'address' | 'elsewhere' | 'unshared' | 'too-large' | 'failed';

  constructor(reason: NotFetched['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A site's answer, and what it has sent. */
export interface Fetched {
  readonly answer: Response;
  readonly parts: Uint8Array<ArrayBuffer>[];
}

/**
 * Fetches a file, without credentials, and no more of it than is wanted. Answers of any status are answers.
 *
 * @param most in bytes
 * @throws NotFetched
 */
export async function fetchElsewhere(source: URL, most: number): Promise<Fetched> {
  let answer: Response;
  const refusal = watchPolicy();
  try {
    answer = await fetch(source, { credentials: 'omit', referrerPolicy: 'no-referrer' });
  } catch (error) {
    // Of its own site, the page may be led on to another one.
    if (await refusal.came()) throw new NotFetched('elsewhere', source.href);
    if (source.origin !== location.origin) throw new NotFetched('unshared', source.href);
    throw new NotFetched('failed', String(error));
  } finally {
    refusal.close();
  }
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const piece of piecesOf(answer.body)) {
    size += piece.byteLength;
    if (size > most) throw new NotFetched('too-large', source.href);
    parts.push(piece);
  }
  return { answer, parts };
}

/** How long a browser may take to say that its policy was why a request has failed, in ms. */
const PATIENCE = 2000;

/** Hears whether the page's content security policy refuses a request. The event may come after the request has failed. */
function watchPolicy() {
  let settle = (_refused: boolean) => {};
  const promise = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  const hear = ({ effectiveDirective }: SecurityPolicyViolationEvent) => {
    if (effectiveDirective === 'connect-src') settle(true);
  };
  document.addEventListener('securitypolicyviolation', hear);
  return {
    came: () => {
      setTimeout(() => settle(false), PATIENCE);
      return promise;
    },
    close: () => document.removeEventListener('securitypolicyviolation', hear),
  };
}
