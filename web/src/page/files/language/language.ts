import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import { type EditorView, hoverTooltip, keymap, type Tooltip } from '@codemirror/view';
import { kinds } from '../../cluster/kinds';
import { ready } from '../../engine/cluster';
import { untilMayPrepare } from '../../engine/first-moments';
import { words } from '../words';
import { parseFile } from './documents';
import { schemaOf } from './openapi';
import { placeAt } from './path-at';
import { type KindSchema, type Schema, typeWords } from './schema';
import { validate } from './validate';

/** Completion, explanations and validation of manifests, from the cluster's own OpenAPI. */
export function manifestLanguage(): Extension {
  return [
    autocompletion({ override: [complete], icons: false, closeOnBlur: true }),
    hoverTooltip(explain, { hoverTime: 350 }),
    linter(lint, {
      delay: 500,
      // Another language says the same in other words.
      needsRefresh: ({ startState, state }) =>
        startState.facet(EditorState.phrases) !== state.facet(EditorState.phrases),
    }),
    lintGutter(),
    keymap.of([...completionKeymap, ...lintKeymap]),
  ];
}

/** The lines of the document that the position is in, up to and with the position's. */
function linesBefore({ doc }: EditorState, at: number): string[] {
  const line = doc.lineAt(at);
  const lines = [line.text.slice(0, at - line.from)];
  for (let i = line.number - 1; i > 0; i--) {
    const { text } = doc.line(i);
    if (/^---(\s|$)/.test(text)) break;
    lines.unshift(text);
  }
  return lines;
}

/** Which kind the document around a position is, as far as it says; by lines, because it may not parse yet. */
function kindAround(doc: Text, at: number): { apiVersion: string; kind: string } {
  let first = doc.lineAt(at).number;
  while (first > 1 && !/^---(\s|$)/.test(doc.line(first).text)) first--;
  const found = { apiVersion: '', kind: '' };
  for (let i = first; i <= doc.lines; i++) {
    const { text } = doc.line(i);
    if (i > first && /^---(\s|$)/.test(text)) break;
    const pair = /^(apiVersion|kind):\s*["']?([\w./-]+)/.exec(text);
    if (pair?.[1] && pair[2]) found[pair[1] as 'apiVersion' | 'kind'] ||= pair[2];
  }
  return found;
}

async function schemaAround(doc: Text, at: number): Promise<KindSchema | null> {
  const { apiVersion, kind } = kindAround(doc, at);
  if (!apiVersion || !kind || !ready.value) return null;
  return schemaOf(apiVersion, kind).catch(() => null);
}

async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const lines = linesBefore(context.state, context.pos);
  const current = lines[lines.length - 1] ?? '';
  if (/^\s*#/.test(current)) return null;
  const place = placeAt(lines);
  const word = /[^\s:[\]{},"']*$/.exec(current)?.[0] ?? '';
  if (!word && !context.explicit && !/(^|[\s-])$/.test(current)) return null;
  const from = context.pos - word.length;
  if (place.path.length === 0 && place.value !== null) {
    const fixed = completeIdentity(place.key, context);
    if (fixed) return { from: context.pos - place.value.length, options: fixed };
  }
  const schema = await schemaAround(context.state.doc, context.pos);
  if (context.aborted) return null;
  if (place.value !== null) {
    const target = schema?.at([...place.path, place.key]);
    const options = schema && target ? valuesOf(target) : [];
    return options.length > 0 ? { from, options } : null;
  }
  // The first line of a document says what it is.
  if (!schema) {
    if (place.path.length > 0) return null;
    return {
      from,
      options: ['apiVersion', 'kind', 'metadata'].map((label) => ({ label, apply: `${label}: ` })),
    };
  }
  const target = schema.at(place.path);
  const options = target ? keysOf(target, schema, current, present(context, lines, current)) : [];
  return options.length > 0 ? { from, options, validFor: /^[\w./-]*$/ } : null;
}

/** apiVersion and kind, from discovery. */
function completeIdentity(key: string, { state, pos }: CompletionContext): Completion[] | null {
  const said = kindAround(state.doc, pos);
  const versionOf = ({ group, version }: { group: string; version: string }) =>
    group ? `${group}/${version}` : version;
  if (key === 'kind') {
    return kinds.value
      .filter((kind) => !said.apiVersion || versionOf(kind) === said.apiVersion)
      .map((kind) => ({ label: kind.kind, detail: versionOf(kind) }));
  }
  if (key === 'apiVersion') {
    return [...new Set(kinds.value.map(versionOf))].sort().map((label) => ({ label }));
  }
  return null;
}

function valuesOf(schema: Schema): Completion[] {
  if (schema.enum) return schema.enum.map((value) => ({ label: String(value) }));
  if (schema.type === 'boolean') return [{ label: 'true' }, { label: 'false' }];
  return [];
}

function keysOf(
  target: Schema,
  kind: KindSchema,
  line: string,
  there: ReadonlySet<string>,
): Completion[] {
  const indent = ' '.repeat((/^\s*(?:- +)*/.exec(line)?.[0] ?? '').length);
  const required = new Set(target.required);
  return Object.entries(target.properties ?? {})
    .filter(([name]) => !there.has(name))
    .map(([name, raw]) => {
      const schema = kind.resolve(raw) ?? raw;
      const description = schema.description;
      return {
        label: name,
        detail: typeWords(schema, kind) + (required.has(name) ? `, ${words.required}` : ''),
        apply: opening(name, schema, indent),
        boost: required.has(name) ? 2 : 0,
        ...(description && { info: () => plain(description) }),
      };
    });
}

/** What follows a key: a value on the same line, or a deeper one. */
function opening(name: string, schema: Schema, indent: string): string {
  if (schema.type === 'array') return `${name}:\n${indent}  - `;
  if (schema.type === 'object' || schema.properties) return `${name}:\n${indent}  `;
  return `${name}: `;
}

/** Keys that the map around the cursor has already, above and below it. */
function present(
  { state, pos }: CompletionContext,
  before: readonly string[],
  current: string,
): ReadonlySet<string> {
  const column = (/^\s*(?:- +)*/.exec(current)?.[0] ?? '').length;
  const keys = new Set<string>();
  const collect = (text: string): boolean => {
    if (text.trim() === '' || text.trimStart().startsWith('#')) return true;
    const at = (/^\s*(?:- +)*/.exec(text)?.[0] ?? '').length;
    if (at < column || /^---/.test(text)) return false;
    const key = at === column ? /^([^\s:#][^:#]*):/.exec(text.slice(at))?.[1] : undefined;
    if (key) keys.add(key.trim());
    return !(at === column && /^\s*- /.test(text));
  };
  if (!/^\s*- /.test(current)) {
    for (let i = before.length - 2; i >= 0; i--) if (!collect(before[i] as string)) break;
  }
  for (let i = state.doc.lineAt(pos).number + 1; i <= state.doc.lines; i++) {
    const { text } = state.doc.line(i);
    if (/^\s*- /.test(text) && (/^\s*/.exec(text)?.[0].length ?? 0) < column) break;
    if (!collect(text)) break;
  }
  return keys;
}

async function explain(view: EditorView, pos: number): Promise<Tooltip | null> {
  const line = view.state.doc.lineAt(pos);
  const pair = /^(\s*(?:- +)*)([^\s:#][^:#]*):/.exec(line.text);
  if (!pair?.[2]) return null;
  const start = line.from + (pair[1] as string).length;
  const end = start + pair[2].length;
  if (pos < start || pos > end) return null;
  const schema = await schemaAround(view.state.doc, pos);
  const { path, key } = placeAt(linesBefore(view.state, line.to));
  const target = schema?.at([...path, key]);
  if (!schema || !target) return null;
  return {
    pos: start,
    end,
    above: true,
    create: () => ({ dom: explanation([...path, key], target, schema) }),
  };
}

/** Built from text nodes only: a description comes from whoever made the CRD. */
function explanation(
  path: readonly (string | number)[],
  target: Schema,
  kind: KindSchema,
): HTMLElement {
  const box = document.createElement('div');
  box.className = 'cm-hover';
  const name = document.createElement('span');
  name.className = 'cm-hover-path';
  name.textContent = path.filter((step) => typeof step === 'string').join('.');
  const type = document.createElement('span');
  type.className = 'cm-hover-type';
  type.textContent = typeWords(target, kind);
  box.append(name, type);
  const facts: string[] = [];
  if (target.description) facts.push(target.description);
  if (target.enum) facts.push(words.oneOf(target.enum.map(String).join(', ')));
  if (target.default !== undefined) facts.push(words.byDefault(JSON.stringify(target.default)));
  for (const { rule, message } of target['x-kubernetes-validations'] ?? []) {
    facts.push(words.rule(rule, message ?? ''));
  }
  if (facts.length > 0) box.append(plain(facts.join('\n\n')));
  return box;
}

function plain(text: string): HTMLElement {
  const paragraph = document.createElement('p');
  paragraph.className = 'cm-hover-text';
  paragraph.textContent = text;
  return paragraph;
}

async function lint(view: EditorView): Promise<readonly Diagnostic[]> {
  const text = view.state.doc.toString();
  const { documents } = await parseFile(text);
  const found: Diagnostic[] = [];
  for (const document of documents) {
    for (const { message, from, to } of document.errors) {
      found.push({ from, to, severity: 'error', message });
    }
    const { apiVersion, kind } = document.object ?? {};
    if (document.errors.length > 0 || !apiVersion || !kind || !ready.value) continue;
    await untilMayPrepare();
    const schema = await schemaOf(apiVersion, kind).catch(() => null);
    if (schema) found.push(...(await validate(document, schema)));
  }
  const end = view.state.doc.length;
  return found.map((each) => ({
    ...each,
    from: Math.min(each.from, end),
    to: Math.min(each.to, end),
  }));
}
