import type { Node, Pair, YAMLMap, YAMLSeq } from 'yaml';
import { loadYaml } from '../../parts/yaml';
import { words } from '../words';
import type { ManifestDocument } from './documents';
import { isOpen, type KindSchema, type Schema, typeWords } from './schema';

export interface Finding {
  readonly from: number;
  readonly to: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/** What the schema says is wrong with a document, before the server is asked. */
export async function validate(
  document: ManifestDocument,
  kind: KindSchema,
): Promise<readonly Finding[]> {
  const { isMap, isSeq, isScalar } = await loadYaml();
  const findings: Finding[] = [];
  const { problems } = words;

  const say = (node: Node | null, message: string) => {
    const [from, to] = node?.range ?? [document.from, document.from + 1];
    findings.push({ from, to: Math.max(to, from + 1), severity: 'error', message });
  };

  function visit(node: Node | null, schema: Schema | undefined, key: Node | null): void {
    if (!schema) return;
    if (node === null || (isScalar(node) && node.value === null)) return; // absent, as the server sees it
    if (isMap(node)) {
      if (schema.type && schema.type !== 'object')
        say(key ?? node, problems.type(typeWords(schema, kind)));
      else visitMap(node, schema, key);
    } else if (isSeq(node)) {
      if (schema.type && schema.type !== 'array')
        say(key ?? node, problems.type(typeWords(schema, kind)));
      else visitSeq(node, schema);
    } else if (isScalar(node)) {
      const wrong = wrongWith(node.value, schema, kind);
      if (wrong) say(node, wrong);
    }
  }

  function visitMap(map: YAMLMap, schema: Schema, key: Node | null): void {
    const seen = new Set<string>();
    for (const pair of map.items as Pair<Node, Node | null>[]) {
      if (!isScalar(pair.key)) continue;
      const name = String(pair.key.value);
      seen.add(name);
      const own = schema.properties?.[name];
      if (!own && !isOpen(schema)) {
        say(pair.key, problems.unknown(name, nearest(name, Object.keys(schema.properties ?? {}))));
        continue;
      }
      const more = schema.additionalProperties;
      const inside = own ?? (typeof more === 'object' ? more : undefined);
      visit(pair.value, kind.resolve(inside), pair.key);
    }
    for (const name of schema.required ?? []) {
      if (!seen.has(name)) say(key ?? (map.items[0]?.key as Node | null), problems.missing(name));
    }
  }

  function visitSeq(seq: YAMLSeq, schema: Schema): void {
    const items = kind.resolve(schema.items);
    for (const item of seq.items) visit(item as Node, items, item as Node);
  }

  visit(document.yaml.contents as Node | null, kind.root, null);
  return findings;
}

function wrongWith(value: unknown, schema: Schema, kind: KindSchema): string | null {
  const { problems } = words;
  const is = typeof value;
  if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string') {
    return is === 'string' || Number.isInteger(value)
      ? null
      : problems.type(typeWords(schema, kind));
  }
  switch (schema.type) {
    case 'string':
      if (is !== 'string') return problems.quote(String(value));
      break;
    case 'integer':
      if (!Number.isInteger(value) && is !== 'bigint') return problems.type('integer');
      break;
    case 'number':
      if (is !== 'number') return problems.type('number');
      break;
    case 'boolean':
      if (is !== 'boolean') return problems.type('boolean');
      break;
    case 'object':
    case 'array':
      return problems.type(typeWords(schema, kind));
    default:
  }
  if (schema.enum && !schema.enum.includes(value)) {
    return problems.enum(schema.enum.map(String).join(', '));
  }
  if (is === 'number') {
    const number = value as number;
    if (schema.minimum !== undefined && number < schema.minimum) {
      return problems.least(schema.minimum);
    }
    if (schema.maximum !== undefined && number > schema.maximum)
      return problems.most(schema.maximum);
  }
  return null;
}

/** The name that was most likely meant: at most two letters away. */
function nearest(name: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let least = 3;
  for (const other of known) {
    const away = distance(name.toLowerCase(), other.toLowerCase(), least);
    if (away < least) {
      least = away;
      best = other;
    }
  }
  return best;
}

/** Levenshtein's distance, or `limit` when it is at least that. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const now = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (before[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      now.push(Math.min(swap, (before[j] as number) + 1, (now[j - 1] as number) + 1));
    }
    before = now;
  }
  return Math.min(before[b.length] as number, limit);
}
