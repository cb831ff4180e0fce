import { type ReadonlySignal, signal } from '@preact/signals';
import { nameHere } from '../engine/name-here';
import { tabStorage } from '../engine/storage';

export interface HeaderRow {
  readonly name: string;
  readonly value: string;
}

/** A request as it is being written. */
export interface Draft {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly HeaderRow[];
  readonly body: string;
  /** The example it began as, whose explanation is shown. */
  readonly example?: string | undefined;
}

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

export const FIRST: Draft = {
  method: 'GET',
  path: '/api/v1/namespaces',
  headers: [],
  body: '',
  example: 'list-namespaces',
};

const KEY = nameHere('kubetab.draft');

const current = signal<Draft>(tabStorage.value<Draft>(KEY) ?? FIRST);
export const draft: ReadonlySignal<Draft> = current;

/** Takes another request in the place of the one that is being written. */
export function replaceDraft(by: Draft): void {
  current.value = by;
  tabStorage.keep(KEY, by);
}

export function edit(change: Partial<Draft>): void {
  replaceDraft({ ...draft.value, ...change });
}

export function takesBody(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

/** Sets a header, replacing one of the same name; an empty value removes it. */
export function setHeader(name: string, value: string): void {
  const others = draft.value.headers.filter((row) => row.name.toLowerCase() !== name.toLowerCase());
  edit({ headers: value ? [...others, { name, value }] : others });
}

export function header(draftOf: Draft, name: string): string {
  return draftOf.headers.find((row) => row.name.toLowerCase() === name.toLowerCase())?.value ?? '';
}
