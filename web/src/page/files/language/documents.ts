import type { Document, LineCounter, Node } from 'yaml';
import { loadYaml } from '../../parts/yaml';
import { words } from '../words';

/** One object in a file, with where it stands. */
export interface ManifestDocument {
  /** What it says, as JSON has it; null for a document that is empty or cannot be read. */
  readonly object: Manifest | null;
  /** Its part of the file. */
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly errors: readonly {
    readonly message: string;
    readonly from: number;
    readonly to: number;
  }[];
  readonly yaml: Document;
}

export interface Manifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
}

export interface ParsedFile {
  readonly documents: readonly ManifestDocument[];
  readonly lines: LineCounter;
}

export async function parseFile(text: string): Promise<ParsedFile> {
  const { LineCounter, parseAllDocuments } = await loadYaml();
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  const list = 'empty' in parsed ? [] : parsed;
  return {
    lines,
    documents: list.map((yaml) => {
      const [from, , to] = yaml.range;
      const value: unknown = yaml.errors.length > 0 ? null : yaml.toJS({ maxAliasCount: 100 });
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      return {
        object: isObject ? (value as Manifest) : null,
        text: text.slice(from, to),
        from,
        to,
        errors: yaml.errors.map(({ message, pos }) => ({
          message: words.problems.yaml(message),
          from: Math.min(pos[0], text.length),
          to: Math.min(Math.max(pos[1], pos[0] + 1), text.length),
        })),
        yaml: yaml as Document,
      };
    }),
  };
}

/** A step in a field path as the server writes it: a name, an index, or the keys of an item in a list. */
export type Step = string | number | Readonly<Record<string, unknown>>;

/**
 * Reads a field as errors and conflicts name it: `spec.replicas`, `spec.containers[0].image`,
 * `.spec.template.spec.containers[name="nginx"].image`, `metadata.labels[app.kubernetes.io/name]`.
 */
export function stepsOf(field: string): Step[] {
  const steps: Step[] = [];
  const pattern = /\.?([^.[\]]+)|\[((?:"(?:[^"\\]|\\.)*"|[^\]"])*)\]/g;
  for (const [, name, inside] of field.matchAll(pattern)) {
    if (name !== undefined) {
      steps.push(name);
    } else if (inside !== undefined) {
      if (/^\d+$/.test(inside)) steps.push(Number(inside));
      else if (/^[\w-]+=/.test(inside)) steps.push(keysIn(inside));
      else steps.push(inside.replace(/^"(.*)"$/, '$1'));
    }
  }
  return steps;
}

/** `name="nginx",protocol="TCP"` as keys and values. */
function keysIn(text: string): Record<string, unknown> {
  const keys: Record<string, unknown> = {};
  for (const [, key, value] of text.matchAll(/([\w-]+)=("(?:[^"\\]|\\.)*"|[^,]*)/g)) {
    if (key === undefined || value === undefined) continue;
    try {
      keys[key] = JSON.parse(value);
    } catch {
      keys[key] = value;
    }
  }
  return keys;
}

/** The path in a document that the steps lead to, with items of lists as indexes; as far as the document has it. */
export function resolve(object: unknown, steps: readonly Step[]): (string | number)[] {
  const path: (string | number)[] = [];
  let at: unknown = object;
  for (const step of steps) {
    if (typeof step === 'object') {
      if (!Array.isArray(at)) break;
      const index = at.findIndex((item: unknown) =>
        Object.entries(step).every(
          ([key, value]) => (item as Record<string, unknown> | null)?.[key] === value,
        ),
      );
      // Keys that have defaults are mostly left out of a file: then the first key decides.
      const [first] = Object.entries(step);
      const loose = at.findIndex(
        (item: unknown) => first && (item as Record<string, unknown>)?.[first[0]] === first[1],
      );
      const found = index >= 0 ? index : loose;
      if (found < 0) break;
      path.push(found);
      at = at[found];
    } else {
      if (typeof at !== 'object' || at === null || !(step in at)) break;
      path.push(step);
      at = (at as Record<string | number, unknown>)[step];
    }
  }
  return path;
}

/** Where a field stands in the file: its key if the document has it, else what would hold it. */
export function rangeOf(
  document: ManifestDocument,
  field: string,
): { readonly from: number; readonly to: number } {
  const path = resolve(document.object, stepsOf(field));
  let node: unknown = document.yaml.contents;
  let range: readonly number[] = [document.from, document.from + 1];
  for (const step of path) {
    const items = (node as { items?: readonly unknown[] } | null)?.items ?? [];
    if (typeof step === 'number') {
      node = items[step];
      range = (node as Node | undefined)?.range ?? range;
    } else {
      const pair = items.find((item) => {
        const key = (item as { key?: { value?: unknown } }).key;
        return String(key?.value) === step;
      }) as { key?: Node; value?: Node } | undefined;
      range = pair?.key?.range ?? range;
      node = pair?.value;
    }
  }
  return { from: range[0] ?? 0, to: Math.max(range[1] ?? 0, (range[0] ?? 0) + 1) };
}

/** "Deployment web", for headings. */
export function titleOf(object: Manifest | null): string {
  return object ? `${object.kind ?? '?'} ${object.metadata?.name ?? ''}`.trim() : '';
}
