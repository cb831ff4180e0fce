import type { Document, Node, YAMLMap, YAMLSeq } from 'yaml';
import type { LineNote } from '../../editor/code-types';
import { loadYaml } from '../../parts/yaml';
import type { ManagedFields } from '../object';

/** A set of fields as metadata.managedFields holds it: names prefixed with f:, k:, v: or i:, and "." for the item itself. */
type FieldSet = { readonly [entry: string]: FieldSet };

interface Owned {
  readonly manager: string;
  readonly set: FieldSet;
}

/** How many owners have a colour of their own; further ones share the last. */
export const COLOURS = 8;

/** The names of the managers of an object, as they are shown: with the subresource that they wrote through. */
export function managersOf(entries: readonly ManagedFields[]): string[] {
  return [...new Set(entries.map(nameOf))];
}

function nameOf({ manager = '?', subresource }: ManagedFields): string {
  return subresource ? `${manager} /${subresource}` : manager;
}

/**
 * Tells for each line of an object in YAML which field managers own the field on that
 * line.
 *
 * @returns notes by line, counted from 1
 */
export async function ownersByLine(
  text: string,
  entries: readonly ManagedFields[],
): Promise<ReadonlyMap<number, LineNote>> {
  const { isMap, isSeq, isScalar, LineCounter, parseDocument } = await loadYaml();
  const counter = new LineCounter();
  const document: Document = parseDocument(text, { lineCounter: counter });
  const managers = managersOf(entries);
  const notes = new Map<number, LineNote>();

  function note(at: number, owners: readonly string[]): void {
    const line = counter.linePos(at).line;
    const first = owners[0];
    if (first === undefined || notes.has(line)) return;
    const colour = Math.min(managers.indexOf(first), COLOURS - 1);
    notes.set(line, { text: owners.join(', '), className: `owner-${colour}` });
  }

  function visit(node: Node | null, owned: readonly Owned[]): void {
    if (owned.length === 0) return;
    if (isMap(node)) visitMap(node, owned);
    else if (isSeq(node)) visitSeq(node, owned);
  }

  function visitMap(map: YAMLMap, owned: readonly Owned[]): void {
    for (const { key, value } of map.items) {
      if (!isScalar(key) || !key.range) continue;
      const inside = below(owned, (entry) => entry === `f:${String(key.value)}`);
      note(key.range[0], ownersHere(inside, isMap(value) || isSeq(value)));
      visit(value as Node | null, inside);
    }
  }

  function visitSeq(seq: YAMLSeq, owned: readonly Owned[]): void {
    seq.items.forEach((item, index) => {
      const value = (item as Node).toJS(document) as unknown;
      const inside = below(owned, (entry) => isItem(entry, value, index));
      const range = (item as Node).range;
      if (range) note(range[0], ownersHere(inside, isMap(item)));
      visit(item as Node, inside);
    });
  }

  visit(
    document.contents as Node | null,
    entries.map((entry) => ({
      manager: nameOf(entry),
      set: (entry.fieldsV1 ?? {}) as FieldSet,
    })),
  );
  return notes;
}

function below(owned: readonly Owned[], is: (entry: string) => boolean): Owned[] {
  return owned.flatMap(({ manager, set }) =>
    Object.entries(set).flatMap(([entry, inside]) => (is(entry) ? [{ manager, set: inside }] : [])),
  );
}

/** A field is owned where its set ends, or where it says "." of itself. */
function ownersHere(owned: readonly Owned[], isBranch: boolean): string[] {
  const owners = owned.filter(({ set }) => {
    const entries = Object.keys(set);
    return entries.length === 0 || entries.includes('.') || !isBranch;
  });
  return [...new Set(owners.map(({ manager }) => manager))];
}

/** Whether an entry means this item of a list: by its keys, its value, or its place. */
function isItem(entry: string, value: unknown, index: number): boolean {
  const text = entry.slice(2);
  if (entry.startsWith('i:')) return Number(text) === index;
  try {
    const wanted = JSON.parse(text) as unknown;
    if (entry.startsWith('v:')) return JSON.stringify(wanted) === JSON.stringify(value);
    if (!entry.startsWith('k:') || typeof wanted !== 'object' || wanted === null) return false;
    const fields = value as Readonly<Record<string, unknown>>;
    return Object.entries(wanted).every(([key, part]) => {
      // Lists of ports are keyed by protocol too, which is mostly left to its default.
      const has = fields?.[key];
      return has === part || (has === undefined && key === 'protocol' && part === 'TCP');
    });
  } catch {
    return false;
  }
}
