import { computed, signal } from '@preact/signals';
import { words } from '../words';

/** One file of the learner's, by its path in the workspace: names with slashes between them, none at the start. */
export interface WorkspaceFile {
  readonly path: string;
  readonly text: string;
}

/** Where files are kept. The editor works on any of them. */
export interface Storage {
  /** All files there are. */
  load(): Promise<readonly WorkspaceFile[]>;
  save(file: WorkspaceFile): Promise<void>;
  remove(path: string): Promise<void>;
  /** Has an editor show what something else has changed. */
  follow?(editor: Editor): void;
  /** The browser has deleted all of them: who has them saves them again. */
  onLost?(save: () => void): void;
}

/** What shows the files of a storage, and has them changed. */
export interface Editor {
  /** What is shown of a file, which may be newer than what was saved last; undefined where there is none. */
  textOf(path: string): string | undefined;
  /** Shows another text, which is not saved; null for a file that is no more. */
  show(path: string, text: string | null): void;
  /** Says why something could not be given back to an engine that has started. */
  refused(why: string): void;
}

export const files = signal<readonly WorkspaceFile[]>([]);
/** Those with a tab, in its order. */
export const openPaths = signal<readonly string[]>([]);
export const activePath = signal('');
export const active = computed(
  () => files.value.find(({ path }) => path === activePath.value) ?? null,
);
/** Whether the files that were kept have been read; before, there is none and nothing to say about that. */
export const opened = signal(false);
/** What went wrong with keeping a file; empty while all is well. */
export const trouble = signal('');

/** Why something that was kept could not be given to an engine that has started, in its words; empty otherwise. */
export const refused = signal('');

let storage: Storage | null = null;
const saving = new Map<string, ReturnType<typeof setTimeout>>();
const SAVE_AFTER = 150;

/** Which files have a tab, and which is shown. */
export interface OpenFiles {
  readonly paths: readonly string[];
  readonly active: string;
}

/**
 * To be called once, with what a newcomer finds.
 *
 * @param before what was open when the page was left; null for the first file
 */
export async function openWorkspace(
  from: Storage,
  samples: readonly WorkspaceFile[],
  before: OpenFiles | null,
): Promise<void> {
  storage = from;
  try {
    let found = await from.load();
    if (found.length === 0) {
      for (const sample of samples) await from.save(sample);
      found = samples;
    }
    files.value = sorted(found);
  } catch (error) {
    // Storage may be closed to the page (private windows, full disk): the files then live as long as the tab.
    trouble.value = error instanceof Error ? error.message : String(error);
    files.value = sorted(samples);
  }
  from.follow?.({
    textOf,
    show,
    refused: (why) => {
      refused.value = why;
    },
  });
  from.onLost?.(() => {
    for (const { path } of files.value) void keep(path);
  });
  const first = files.value.find(({ path }) => path === samples[0]?.path) ?? files.value[0];
  if (before) openAgain(before);
  else if (first && !activePath.value) openFile(first.path);
  opened.value = true;
}

/** What has been opened meanwhile stays shown. */
function openAgain({ paths, active }: OpenFiles): void {
  const isThere = (wanted: string) => files.value.some(({ path }) => path === wanted);
  openPaths.value = [...new Set([...paths.filter(isThere), ...openPaths.value])];
  if (!activePath.value) activePath.value = isThere(active) ? active : (openPaths.value[0] ?? '');
}

export function openFile(path: string): void {
  if (!openPaths.value.includes(path)) openPaths.value = [...openPaths.value, path];
  activePath.value = path;
}

export function closeFile(path: string): void {
  const at = openPaths.value.indexOf(path);
  openPaths.value = openPaths.value.filter((each) => each !== path);
  if (activePath.value !== path) return;
  activePath.value = openPaths.value[Math.max(at - 1, 0)] ?? '';
}

/** Changes a file's text or makes the file. It is kept at once, and what follows quickly a moment after the last key. */
export function writeFile(path: string, text: string): void {
  files.value = sorted([...files.value.filter((file) => file.path !== path), { path, text }]);
  const pending = saving.get(path);
  if (pending === undefined) void keep(path);
  clearTimeout(pending);
  saving.set(
    path,
    setTimeout(() => {
      saving.delete(path);
      void keep(path);
    }, SAVE_AFTER),
  );
}

async function keep(path: string): Promise<void> {
  const file = files.value.find((each) => each.path === path);
  if (!file || !storage) return;
  try {
    await storage.save(file);
    trouble.value = '';
  } catch (error) {
    trouble.value = error instanceof Error ? error.message : String(error);
  }
}

/** @returns how to have the file again, with its tab if it had one; under another name if its own is taken by then */
export function removeFile(path: string): () => void {
  clearTimeout(saving.get(path));
  saving.delete(path);
  const file = files.value.find((each) => each.path === path);
  const wasOpen = openPaths.value.includes(path);
  closeFile(path);
  files.value = files.value.filter((each) => each.path !== path);
  void storage?.remove(path).catch((error: unknown) => {
    trouble.value = error instanceof Error ? error.message : String(error);
  });
  return () => {
    if (!file) return;
    const name = freeName(path);
    writeFile(name, file.text);
    if (wasOpen) openFile(name);
  };
}

/** @returns why not, or nothing when it was done */
export async function renameFile(from: string, to: string): Promise<string> {
  const refusal = refusalOf(to);
  if (refusal || from === to) return refusal;
  const file = files.value.find(({ path }) => path === from);
  if (!file) return '';
  const wasOpen = openPaths.value.includes(from);
  const wasActive = activePath.value === from;
  openPaths.value = openPaths.value.map((path) => (path === from ? to : path));
  writeFile(to, file.text);
  await keep(to);
  files.value = files.value.filter(({ path }) => path !== from);
  await storage?.remove(from);
  if (wasOpen && wasActive) activePath.value = to;
  return '';
}

/** Why a path cannot be that of a new file; empty when it can. */
export function refusalOf(path: string): string {
  if (
    !/^[^/\0]+(\/[^/\0]+)*$/.test(path) ||
    path.split('/').some((part) => /^\.{1,2}$/.test(part))
  ) {
    return words.files.badName;
  }
  if (path.length > 200) return words.files.longName;
  if (files.value.some((file) => file.path === path)) return words.files.takenName;
  return '';
}

/** A name that no file has yet, made from a wish. */
export function freeName(wish: string): string {
  return nameIn(
    files.value.map(({ path }) => path),
    wish,
  );
}

/** As `freeName`, among other names. A file is no folder, so that a name may be taken without being anybody's. */
export function nameIn(taken: readonly string[], wish: string): string {
  const isTaken = (name: string) =>
    taken.some((path) => path === name || path.startsWith(`${name}/`));
  // Where a folder would have to be there is a file.
  const name = taken.some((path) => wish.startsWith(`${path}/`)) ? wish.replaceAll('/', '-') : wish;
  if (!isTaken(name)) return name;
  const dot = name.lastIndexOf('.');
  const [stem, end] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  for (let n = 2; ; n++) {
    const other = `${stem}-${n}${end}`;
    if (!isTaken(other)) return other;
  }
}

/** What is shown of a file; undefined where there is none. */
export function textOf(path: string): string | undefined {
  return files.value.find((file) => file.path === path)?.text;
}

function show(path: string, text: string | null): void {
  const others = files.value.filter((file) => file.path !== path);
  if (text === null) {
    files.value = others;
    closeFile(path);
  } else {
    files.value = sorted([...others, { path, text }]);
  }
}

function sorted(list: readonly WorkspaceFile[]): readonly WorkspaceFile[] {
  return [...list].sort((a, b) => a.path.localeCompare(b.path));
}
