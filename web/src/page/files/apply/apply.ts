import {
  askKinds,
  collectionPath,
  followKinds,
  type Kind,
  kindNamed,
  kinds,
} from '../../cluster/kinds';
import { ask, Refused, refused } from '../../engine/ask';
import type { Manifest, ManifestDocument } from '../language/documents';
import { words } from '../words';

/** The field manager of what the editor applies, as metadata.managedFields names it. */
export const MANAGER = 'kubetab-editor';

export type Verdict = 'created' | 'configured' | 'unchanged' | 'deleted' | 'absent' | 'valid';

/** What came of one document. */
export type Outcome =
  | { readonly result: Verdict; readonly object: Applied | null }
  | {
      readonly result: 'refused';
      readonly message: string;
      readonly fields: readonly FieldProblem[];
    }
  | {
      readonly result: 'conflict';
      readonly message: string;
      readonly conflicts: readonly Conflict[];
    };

export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

export interface Conflict {
  readonly field: string;
  readonly owner: string;
}

export interface Applied {
  readonly metadata: { readonly resourceVersion?: string; readonly [more: string]: unknown };
  readonly [more: string]: unknown;
}

/** The path of the object that a document means. @throws Refused with words when it means none */
export async function locate(
  object: Manifest,
): Promise<{ readonly path: string; readonly kind: Kind }> {
  const { apiVersion = '', kind = '', metadata } = object;
  if (!metadata?.name) throw new Refused(0, words.results.nameless, null);
  const found = await awaitKind(apiVersion, kind);
  if (!found) throw new Refused(0, words.results.unknownKind(kind, apiVersion), null);
  // The version of the file counts, not the one that its group prefers.
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  const namespace = found.namespaced ? (metadata.namespace ?? 'default') : '';
  const base = collectionPath({ ...found, version }, namespace);
  return { path: `${base}/${encodeURIComponent(metadata.name)}`, kind: found };
}

const PATIENCE = 5000;

/** A kind that was defined a moment ago is in discovery a moment later. */
async function awaitKind(apiVersion: string, kind: string): Promise<Kind | null> {
  followKinds();
  const now = kindNamed(apiVersion, kind);
  if (now) return now;
  void askKinds();
  return new Promise((resolve) => {
    let stop: (() => void) | null = null;
    const settle = (found: Kind | null) => {
      clearTimeout(timer);
      resolve(found);
      stop?.();
    };
    const timer = setTimeout(() => settle(null), PATIENCE);
    stop = kinds.subscribe(() => {
      const found = kindNamed(apiVersion, kind);
      if (found) settle(found);
    });
  });
}

export interface ApplyOptions {
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** Server-side apply of one document. */
export async function apply(
  { object }: ManifestDocument,
  { dryRun = false, force = false }: ApplyOptions,
): Promise<Outcome> {
  if (!object) return { result: 'refused', message: words.results.unread, fields: [] };
  try {
    const { path } = await locate(object);
    const before = dryRun ? null : await current(path);
    const query = new URLSearchParams({ fieldManager: MANAGER, fieldValidation: 'Strict' });
    if (force) query.set('force', 'true');
    if (dryRun) query.set('dryRun', 'All');
    const response = await ask('editor', `${path}?${query}`, {
      method: 'PATCH',
      headers: [['Content-Type', 'application/apply-patch+yaml']],
      body: JSON.stringify(object),
    });
    const text = await response.text();
    if (!response.ok) return refusalOf(response.status, text);
    const applied = JSON.parse(text) as Applied;
    if (dryRun) return { result: 'valid', object: applied };
    const same = before?.metadata.resourceVersion === applied.metadata.resourceVersion;
    return {
      result: response.status === 201 ? 'created' : same ? 'unchanged' : 'configured',
      object: applied,
    };
  } catch (error) {
    return { result: 'refused', message: messageOf(error), fields: [] };
  }
}

/** The object as it is in the cluster; null when it is not there. */
export async function current(path: string): Promise<Applied | null> {
  const response = await ask('editor', path);
  const text = await response.text();
  if (response.status === 404) return null;
  if (!response.ok) throw refused(response.status, text);
  return JSON.parse(text) as Applied;
}

export async function remove({ object }: ManifestDocument): Promise<Outcome> {
  if (!object) return { result: 'refused', message: words.results.unread, fields: [] };
  try {
    const { path } = await locate(object);
    const response = await ask('editor', path, { method: 'DELETE' });
    const text = await response.text();
    if (response.status === 404) return { result: 'absent', object: null };
    return response.ok ? { result: 'deleted', object: null } : refusalOf(response.status, text);
  } catch (error) {
    return { result: 'refused', message: messageOf(error), fields: [] };
  }
}

function refusalOf(status: number, text: string): Outcome {
  const { message, body } = refused(status, text);
  const causes = body?.details?.causes ?? [];
  const conflicts = causes
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ field = '', message: why = '' }) => ({ field, owner: ownerIn(why) }));
  if (conflicts.length > 0) return { result: 'conflict', message, conflicts };
  const fields = causes.flatMap(({ field, message: why }) =>
    field ? [{ field, message: why ?? message }] : [],
  );
  return { result: 'refused', message, fields: fields.length > 0 ? fields : fieldsIn(message) };
}

/** `conflict with "kubectl" using apps/v1` names the owner; with a subresource or a time it says more. */
function ownerIn(message: string): string {
  return /conflict with "([^"]*)"/.exec(message)?.[1] ?? message;
}

/** Errors that name their field in the message only: of the schema of apply, and of strict decoding. */
function fieldsIn(message: string): FieldProblem[] {
  const found: FieldProblem[] = [];
  for (const [, field] of message.matchAll(/(?:^|[\s:])(\.[\w.[\]="\-/]+): field not declared/g)) {
    if (field)
      found.push({ field, message: words.problems.unknown(field.replace(/^.*\./, ''), null) });
  }
  for (const [, field] of message.matchAll(/unknown field "([^"]+)"/g)) {
    if (field)
      found.push({ field, message: words.problems.unknown(field.replace(/^.*\./, ''), null) });
  }
  return found;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
