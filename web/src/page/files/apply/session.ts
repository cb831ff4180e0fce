import { signal } from '@preact/signals';
import { untilReady } from '../../engine/cluster';
import { spoken } from '../../frame/spoken';
import { loadYaml, STYLE } from '../../parts/yaml';
import {
  type ManifestDocument,
  type ParsedFile,
  parseFile,
  rangeOf,
  titleOf,
} from '../language/documents';
import { words } from '../words';
import { active, writeFile } from '../workspace/workspace';
import {
  type Applied,
  type ApplyOptions,
  apply,
  type Conflict,
  current,
  locate,
  type Outcome,
  remove,
} from './apply';
import { withoutFields, withValuesOf } from './resolve-conflict';

/** What came of one document of a file, with where in the file its problems stand. */
export interface DocumentOutcome {
  readonly title: string;
  readonly outcome: Outcome;
  readonly document: ManifestDocument;
  readonly problems: readonly { readonly line: number; readonly message: string }[];
  /** For a diff: both sides in YAML, without what every write changes. */
  readonly sides?: { readonly live: string; readonly wanted: string; readonly isNew: boolean };
}

export interface Session {
  readonly path: string;
  readonly task: 'apply' | 'check' | 'diff' | 'delete';
  readonly phase: 'queued' | 'working' | 'done';
  readonly outcomes: readonly DocumentOutcome[];
}

/** The last thing that was done with a file, shown below it until it is closed. */
export const session = signal<Session | null>(null);

export function closeSession(): void {
  session.value = null;
}

type Each = (document: ManifestDocument) => Promise<Omit<DocumentOutcome, 'problems' | 'title'>>;

/** One after another: the second may need what the first makes. */
async function runTask(task: Session['task'], each: Each, backwards = false): Promise<void> {
  const file = active.value;
  if (!file) return;
  let state: Session = { path: file.path, task, phase: 'queued', outcomes: [] };
  const show = (change: Partial<Session>) => {
    state = { ...state, ...change };
    session.value = state;
  };
  show({});
  await untilReady(new AbortController().signal).catch(() => undefined);
  show({ phase: 'working' });
  const parsed = await parseFile(file.text);
  const documents = parsed.documents.filter(({ object, errors }) => object || errors.length > 0);
  if (backwards) documents.reverse();
  for (const document of documents) {
    const broken = document.errors[0];
    const done: Omit<DocumentOutcome, 'problems' | 'title'> = broken
      ? { document, outcome: { result: 'refused', message: broken.message, fields: [] } }
      : await each(document);
    const outcome: DocumentOutcome = {
      ...done,
      title: titleOf(document.object),
      problems: problemsOf(done.outcome, document, parsed),
    };
    show({ outcomes: [...state.outcomes, outcome] });
  }
  show({ phase: 'done' });
  const said = state.outcomes.map(
    ({ title, outcome }) => `${title} ${words.results[outcome.result]}`,
  );
  spoken.value = said.join(', ') || words.results.nothing;
}

function problemsOf(
  outcome: Outcome,
  document: ManifestDocument,
  { lines }: ParsedFile,
): DocumentOutcome['problems'] {
  const lineAt = (at: number) => lines.linePos(at).line;
  const broken = document.errors[0];
  if (broken) return [{ line: lineAt(broken.from), message: broken.message }];
  if (outcome.result === 'refused') {
    return outcome.fields.map(({ field, message }) => ({
      line: lineAt(rangeOf(document, field).from),
      message: `${field.replace(/^\./, '')}: ${message}`,
    }));
  }
  return [];
}

export function applyFile(options: ApplyOptions = {}): Promise<void> {
  return runTask('apply', async (document) => ({
    document,
    outcome: await apply(document, options),
  }));
}

export function checkFile(): Promise<void> {
  return runTask('check', async (document) => ({
    document,
    outcome: await apply(document, { dryRun: true }),
  }));
}

export function deleteFile(): Promise<void> {
  return runTask(
    'delete',
    async (document) => ({ document, outcome: await remove(document) }),
    true,
  );
}

export function diffFile(): Promise<void> {
  return runTask('diff', async (document) => {
    // What force would give: a diff shows what the file wants, whoever owns it.
    const outcome = await apply(document, { dryRun: true, force: true });
    if (outcome.result !== 'valid' || !outcome.object || !document.object)
      return { document, outcome };
    const { path } = await locate(document.object);
    const live = await current(path);
    const { stringify } = await loadYaml();
    const yaml = (object: Applied | null) => (object ? stringify(lasting(object), STYLE) : '');
    return {
      document,
      outcome,
      sides: { live: yaml(live), wanted: yaml(outcome.object), isNew: live === null },
    };
  });
}

/** Without what changes with every write, and for a new object what the dry run made up. */
function lasting(object: Applied): unknown {
  const { managedFields, resourceVersion, generation, uid, creationTimestamp, ...rest } =
    object.metadata;
  return { ...object, metadata: rest };
}

export type Way = 'force' | 'leave' | 'share';

/** Resolves the conflict of one document in one of the three ways of server-side apply, and applies again. */
export async function settle({ document, outcome }: DocumentOutcome, way: Way): Promise<void> {
  const file = active.value;
  if (!file || outcome.result !== 'conflict' || !document.object) return;
  if (way === 'force') {
    await applyFile({ force: true });
    return;
  }
  writeFile(file.path, await resolved(file.text, document, outcome.conflicts, way));
  await applyFile();
}

async function resolved(
  text: string,
  document: ManifestDocument,
  conflicts: readonly Conflict[],
  way: 'leave' | 'share',
): Promise<string> {
  if (way === 'leave') return withoutFields(text, document, conflicts);
  const { path } = await locate(document.object ?? {});
  const live = await current(path);
  return live ? withValuesOf(text, document, conflicts, live) : text;
}

/** Lays the file out anew, with its comments. A file that cannot be read stays as it is. */
export async function formatFile(): Promise<void> {
  const file = active.value;
  if (!file) return;
  const { documents } = await parseFile(file.text);
  if (documents.some(({ errors }) => errors.length > 0)) {
    await checkFile();
    return;
  }
  const parts = documents.map(({ yaml }) => yaml.toString({ lineWidth: 0 }).replace(/^---\n/, ''));
  writeFile(file.path, parts.join('---\n'));
}
