import { type ReadonlySignal, signal } from '@preact/signals';
import { nameHere } from '../engine/name-here';
import { tabStorage } from '../engine/storage';
import type { Draft } from './draft';

export interface Past {
  readonly request: Draft;
  readonly at: number;
  /** HTTP status, or 0 for a request that got no answer. */
  readonly status: number;
  readonly ms: number;
}

const KEY = nameHere('kubetab.history');
const KEEP = 100;
/** Longer bodies are not kept: the storage of a tab is small. */
const KEEP_BODY = 64 * 1024;

const all = signal<readonly Past[]>(tabStorage.value<Past[]>(KEY) ?? []);
/** The requests that were sent, the last one first. */
export const history: ReadonlySignal<readonly Past[]> = all;

function keep(next: readonly Past[]): void {
  all.value = next;
  tabStorage.keep(KEY, next);
}

export function addToHistory(past: Past): void {
  const { request } = past;
  const body = request.body.length > KEEP_BODY ? '' : request.body;
  keep([{ ...past, request: { ...request, body } }, ...history.value].slice(0, KEEP));
}

export function clearHistory(): void {
  keep([]);
}
