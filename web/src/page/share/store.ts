import type { Refusal, Stored } from '../../answers/share';
import { scope } from '../engine/here';
import { UnreadableLink } from './link';
import { words } from './words';

/*
 * The share store of the page's host, where it has one: docs/sharing.md.
 */

/** What the store takes, in bytes. */
export const MOST_KEPT = 256 * 1024;

let asked: Promise<boolean> | undefined;

/**
 * Whether the host has a store. The page is asked for, and not the store: a 404 would be an error in the console of all
 * visitors of hosts without one.
 */
export function hasStore(): Promise<boolean> {
  asked ??= navigator.onLine
    ? fetch(scope, { method: 'HEAD', cache: 'no-store' }).then(
        (answer) => answer.headers.get('Kubetab-Share') === 's',
        () => false,
      )
    : Promise.resolve(false);
  return asked;
}

/**
 * Gives bytes to the host.
 *
 * @returns the name under which anybody gets them
 * @throws Error with a sentence
 */
export async function keep(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<string> {
  let answer: Response;
  try {
    answer = await fetch(new URL('s', scope), {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: bytes,
    });
  } catch {
    throw new Error(words.short.unreachable);
  }
  const said = (await answer.json().catch(() => ({}))) as Partial<Stored & Refusal>;
  if (!answer.ok || !said.id) {
    throw new Error(words.short.refused(said.message ?? `HTTP ${answer.status}`));
  }
  return said.id;
}

/** @throws UnreadableLink */
export async function fetchShared(
  id: string,
): Promise<{ readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> }> {
  let answer: Response;
  try {
    answer = await fetch(new URL(`s/${id}`, scope));
    if (answer.ok) {
      const bytes = new Uint8Array(await answer.arrayBuffer());
      if (bytes.length > MOST_KEPT) throw new UnreadableLink('large');
      return { type: answer.headers.get('Content-Type') ?? '', bytes };
    }
  } catch (error) {
    throw error instanceof UnreadableLink ? error : new UnreadableLink('unreachable');
  }
  throw new UnreadableLink(/^(404|410)$/.test(String(answer.status)) ? 'gone' : 'unreachable');
}
