import type { Summary } from '../../../answers/cluster';
import { OWN } from '../../../client/cluster-names';
import { differing } from '../../../engine/settings';
import type { EngineSettings } from '../../../protocol';
import { NotFetched } from '../../elsewhere/fetch';
import { askAsAdmin, refused } from '../../engine/ask';
import { notice, untilReady } from '../../engine/cluster';
import { clusterHere, setTitle, switchTo, titleOf } from '../../engine/here';
import { textOf } from '../../files/workspace/engine-files';
import {
  FILES,
  OTHERS,
  openWorkspaceDatabase,
  workspaceOf,
} from '../../files/workspace/workspace-database';
import { words } from '../words';
import { fetchFile, takeSource } from './bundle-address';
import { dropFiles, freeName, list, shownTitle, stored, translated } from './clusters';
import { noteOpened } from './opened';
import { askToStay } from './stay';

/*
 * A cluster as a file: docs/bundle.md. The engine makes and reads it; here it is bytes.
 */

const PATH = '/kubetab/bundle';
const EXTENSION = '.kubetab';
const MEDIA_TYPE = 'application/vnd.kubetab.bundle';
/** What the engine reads, in bytes. */
const MOST = 64 * 2 ** 20;

/**
 * Hands the cluster of this tab to the visitor as a file.
 *
 * @throws Error with a sentence
 */
export async function saveBundle(secrets: boolean): Promise<void> {
  const { name, bytes } = await bundleOf(secrets);
  handOver(new Blob([bytes], { type: MEDIA_TYPE }), fileName(name, EXTENSION));
}

/**
 * The cluster of this tab as a bundle, and what it is called.
 *
 * @param as `compact` for a third of the bytes, which only Kubetab can read, and no share store takes
 * @throws Error with a sentence
 */
export async function bundleOf(
  secrets: boolean,
  as: '' | 'compact' = '',
): Promise<{ readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }> {
  const name = nameHere();
  return { name, bytes: new Uint8Array(await asked({ name, secrets: String(secrets), as })) };
}

/**
 * Hands what people made in the cluster of this tab to the visitor as YAML, for kubectl apply in any cluster: an archive
 * with a file for each namespace.
 *
 * @throws Error with a sentence
 */
export async function saveManifests(secrets: boolean): Promise<void> {
  const name = nameHere();
  const bytes = await asked({ name, secrets: String(secrets), as: 'manifests' });
  handOver(new Blob([bytes], { type: 'application/zip' }), fileName(name, '.zip'));
}

/** The page's own word for a visitor's first cluster is the word for another one elsewhere. */
function nameHere(): string {
  return clusterHere === OWN ? titleOf(OWN) : shownTitle(clusterHere);
}

async function asked(query: Record<string, string>): Promise<ArrayBuffer> {
  const answer = await askAsAdmin('control', `${PATH}?${new URLSearchParams(query)}`);
  if (!answer.ok) throw refused(answer.status, await answer.text());
  return answer.arrayBuffer();
}

function handOver(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * Makes a new cluster of a file, and goes there. The engine of this tab looks at the file first: nothing is made of one that
 * is refused.
 *
 * @throws Error with a sentence; nothing of the cluster is there then
 */
export async function openBundle(file: File): Promise<void> {
  if (file.size > MOST) throw new Error(words.bundles.tooLarge);
  const bytes = new Uint8Array(await file.arrayBuffer());
  const summary = await looked(bytes);
  const settings = await checked(summary.settings);
  const { snapshot } = __MODULE__;
  if (!snapshot) throw new Error(words.bundles.nowhere);
  const title = await freeTitle(summary.name || file.name.replace(/\.kubetab$/i, ''));
  const name = await freeName(title);
  try {
    await writeFiles(name, summary.files);
    await stored.begin(name, snapshot.url, bytes, settings);
  } catch (error) {
    await dropFiles(name);
    throw translated(error);
  }
  setTitle(name, title);
  noteOpened(name, summary);
  void askToStay();
  await list();
  switchTo(name, { hash: '#cluster' });
}

/**
 * Opens the bundle that `?bundle=` names, when the visitor agrees. To be called once.
 *
 * @throws Error with a sentence
 */
export async function openFromAddress(): Promise<void> {
  const page = new URL(location.href);
  const text = words.bundles.address;
  try {
    const source = takeSource(page);
    if (page.href !== location.href) history.replaceState(history.state, '', page);
    if (!source || !confirm(text.ask(source.href))) return;
    await untilReady(new AbortController().signal);
    await openBundle(await fetchFile(source, MOST));
  } catch (error) {
    if (page.href !== location.href) history.replaceState(history.state, '', page);
    if (!(error instanceof NotFetched)) throw error;
    const { reason, message } = error;
    if (reason === 'too-large') throw new Error(words.bundles.tooLarge);
    throw new Error(text[reason](message));
  }
}

/** Opens a bundle that is dropped anywhere on the page. To be called once. */
export function followDroppedBundles(): void {
  document.addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
  document.addEventListener(
    'drop',
    (event) => {
      const [file, ...more] = event.dataTransfer?.files ?? [];
      if (!file || more.length > 0 || !file.name.toLowerCase().endsWith(EXTENSION)) return;
      event.preventDefault();
      event.stopPropagation();
      told(openBundle(file));
    },
    { capture: true },
  );
}

/** Asks the visitor for a file. */
export function chooseBundle(): void {
  const field = document.createElement('input');
  field.type = 'file';
  field.accept = EXTENSION;
  field.onchange = () => {
    const [file] = field.files ?? [];
    if (file) told(openBundle(file));
  };
  field.click();
}

/** Says in the page's line why something did not work. */
export function told(doing: Promise<unknown>): void {
  doing.catch((error: unknown) => {
    notice.value = { text: () => (error instanceof Error ? error.message : String(error)) };
  });
}

async function looked(bytes: Uint8Array<ArrayBuffer>): Promise<Summary> {
  const answer = await askAsAdmin('control', PATH, {
    method: 'POST',
    headers: [['Content-Type', MEDIA_TYPE]],
    body: bytes,
  });
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text) as Summary;
  const { message } = refused(answer.status, text);
  throw new Error(answer.status === 413 ? words.bundles.tooLarge : words.bundles.refused(message));
}

/** The settings that differ from the defaults. @throws Error when an engine does not start with them */
async function checked(settings: EngineSettings): Promise<EngineSettings> {
  const others = differing(settings);
  const answer = await askAsAdmin('control', '/kubetab/settings', {
    method: 'POST',
    body: JSON.stringify(others),
  });
  if (!answer.ok) throw new Error(words.bundles.refused((await answer.text()).trim()));
  return others;
}

async function writeFiles(name: string, files: Summary['files']): Promise<void> {
  if (files.length === 0) return;
  const database = await openWorkspaceDatabase(workspaceOf(name));
  try {
    const transaction = database.transaction([FILES, OTHERS], 'readwrite');
    const puts = files.map(({ path, data }) => {
      const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
      const text = textOf(path, bytes);
      return text === null
        ? transaction.objectStore(OTHERS).put(bytes, path)
        : transaction.objectStore(FILES).put({ path, text });
    });
    await Promise.all([...puts, transaction.done]);
  } finally {
    database.close();
  }
}

/** The title, or one with a number where another cluster has it. */
async function freeTitle(title: string): Promise<string> {
  const taken = new Set((await list()).map((each) => each.title));
  for (let n = 1; ; n++) {
    const free = n === 1 ? title : `${title} (${n})`;
    if (!taken.has(free)) return free;
  }
}

/** A file name that every system takes. */
function fileName(title: string, extension: string): string {
  const stem = title.replace(/[/\\:*?"<>|\p{Cc}]+/gu, '-').replace(/^[-.\s]+|[-.\s]+$/g, '');
  return `${stem || 'cluster'}${extension}`;
}
