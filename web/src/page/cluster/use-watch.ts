import { useEffect, useMemo } from 'preact/hooks';
import { type Form, hold, objects, type Snapshot, watchOf } from './watch';

const NOTHING: Snapshot<unknown> = { state: 'waiting', problem: '', items: new Map(), version: 0 };

/**
 * Watches a collection while the component is shown.
 *
 * @param path of the collection, or null for none
 */
export function useWatch<T>(path: string | null, form: Form<T>): Snapshot<T> {
  const watch = useMemo(() => (path === null ? null : watchOf(path, form)), [path, form.name]);
  useEffect(() => (path === null ? undefined : hold(path, form).release), [path, form.name]);
  return watch ? watch.snapshot.value : (NOTHING as Snapshot<T>);
}

const FULL = objects<unknown>();

/** As `useWatch`, with whole objects. */
export function useObjects<T>(path: string | null): Snapshot<T> {
  return useWatch<T>(path, FULL as Form<T>);
}
