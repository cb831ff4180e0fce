import type { FileChange, Folder } from '../../../answers/shell';
import { askAsAdmin } from '../../engine/ask';
import { ready } from '../../engine/cluster';
import { framesOf } from '../../engine/frames';
import type { OtherFiles } from './local-storage';
import type { Storage, WorkspaceFile } from './workspace';

/** Where the terminal's files are; the workspace is its home folder. */
const HOME = '/home/kubetab';
/** Is there in an engine that has been given its files, by a page or a bundle: it knows better than the copy from then on. */
const MARK = '/kubetab/files/tmp/.kubetab-files';
/** What an editor shows, and what is kept at all, in bytes. */
const LARGEST_TEXT = 1_000_000;
const LARGEST = 16_000_000;
/** The engine tells it without tokens of its own, and adds what it is given to the one that it has. */
const KUBECONFIG = '.kube/config';
/** What is kept of the folder of kubectl's own, which has caches and locks, too. */
const KEPT_OF_KUBE = [KUBECONFIG, '.kube/kuberc'];

const isKept = (path: string) =>
  path.startsWith('.kube/') ? KEPT_OF_KUBE.includes(path) : !path.split('/').includes('.cache');

const urlOf = (path: string) =>
  path === KUBECONFIG
    ? '/kubetab/kubeconfig'
    : `/kubetab/files${`${HOME}/${path}`.split('/').map(encodeURIComponent).join('/')}`;

/**
 * The workspace as the terminal sees it, over a copy that outlives the engine. An engine that starts is given the
 * files of the copy. From then on the engine's files count, and files that commands write are taken into the copy.
 *
 * @param kept what the editor shows
 * @param others the rest: what is no text, is hidden or too large
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it is long because all that it returns shares what one copy knows of its engine
export function sharedWithTerminal(kept: Storage, others: OtherFiles): Storage {
  let online = false;
  /** Changed here while there was no engine to tell. */
  const untold = new Set<string>();
  /** Grows with each change made here, once when it begins and once when the engine has it. */
  const changes = new Map<string, number>();
  const count = (path: string) => changes.set(path, (changes.get(path) ?? 0) + 1);
  const send = async (path: string, body: string | Uint8Array<ArrayBuffer>) => {
    const answer = await askAsAdmin('editor', urlOf(path), { method: 'PUT', body });
    if (!answer.ok) throw new Error(await answer.text());
  };
  const put = ({ path, text }: WorkspaceFile) => send(path, text);
  const drop = async (path: string) => {
    await askAsAdmin('editor', urlOf(path), { method: 'DELETE' });
  };
  return {
    load: () => kept.load(),
    async save(file) {
      count(file.path);
      try {
        await kept.save(file);
        if (online) await put(file);
        else untold.add(file.path);
      } finally {
        count(file.path);
      }
    },
    async remove(path) {
      count(path);
      try {
        await kept.remove(path);
        if (online) await drop(path);
        else untold.add(path);
      } finally {
        count(path);
      }
    },
    follow(onChange, onRefused) {
      let stop: AbortController | null = null;
      ready.subscribe((isReady) => {
        stop?.abort();
        stop = null;
        online = false;
        if (!isReady) return;
        const mine = new AbortController();
        stop = mine;
        void join(mine.signal).catch(() => undefined); // the engine has gone, or has no terminal
      });

      async function join(signal: AbortSignal): Promise<void> {
        const mark = await askAsAdmin('view', MARK, { signal });
        await mark.body?.cancel();
        if (!mark.ok && mark.status !== 404) return;
        const earlier = [...untold];
        untold.clear(); // from here on it has what is changed while the engine is told
        const mine = await kept.load();
        try {
          if (mark.ok) await tell(earlier, mine);
          else await give(mine);
        } catch (error) {
          for (const path of earlier) untold.add(path);
          throw error;
        }
        online = true;
        const meanwhile = [...untold];
        untold.clear();
        await tell(meanwhile, await kept.load());
        const news = await askAsAdmin('view', `${urlOf('')}?watch=1`, { signal });
        const there = new Set(await listed('', signal));
        for (const path of there) await take(path, signal);
        for (const { path } of mine) if (!there.has(path)) await gone(path);
        for (const path of await others.paths()) if (!there.has(path)) await others.remove(path);
        if (!news.ok || !news.body) return;
        for await (const frame of framesOf(news.body)) {
          const change = JSON.parse(frame) as FileChange;
          const path = change.path.slice(HOME.length + 1);
          if (change.type === 'deleted') await gone(path);
          else await take(path, signal);
        }
      }

      /** Gives an engine that has just started all files. */
      async function give(mine: readonly WorkspaceFile[]): Promise<void> {
        for (const file of mine) await put(file);
        for (const path of await others.paths()) {
          const bytes = await others.read(path);
          if (!bytes) continue;
          try {
            await send(path, bytes);
          } catch (error) {
            if (path !== KUBECONFIG) throw error;
            // It is none: the engine has the first one again, and has put this one beside it.
            onRefused(error instanceof Error ? error.message : String(error));
          }
        }
        await askAsAdmin('editor', MARK, { method: 'PUT', body: '' });
      }

      /** Tells an engine that has its files what was changed here before it could be asked. */
      async function tell(paths: readonly string[], mine: readonly WorkspaceFile[]): Promise<void> {
        for (const path of paths) {
          const file = mine.find((each) => each.path === path);
          await (file ? put(file) : drop(path));
        }
      }

      async function gone(path: string): Promise<void> {
        await kept.remove(path);
        await others.remove(path);
        onChange(path, null);
      }

      /** Takes over a file of the terminal's: into the editor if it is one that an editor can show. */
      async function take(path: string, signal: AbortSignal): Promise<void> {
        if (!isKept(path)) return;
        const before = changes.get(path) ?? 0;
        if (before % 2 === 1) return; // what is on its way there is newer
        const isOld = () => (changes.get(path) ?? 0) !== before;
        const file = await fileOf(path, signal);
        if (!file || isOld()) return;
        const { bytes } = file;
        const text = bytes && textOf(path, bytes);
        // Somebody may type while a browser keeps it, for as long as that takes.
        if (text !== null) await others.remove(path);
        else if (bytes) await others.save(path, bytes);
        if (isOld()) return;
        await (text === null ? kept.remove(path) : kept.save({ path, text }));
        if (!isOld()) onChange(path, text);
      }
    },
  };
}

/**
 * What is in a file of the terminal's; null where there is none. The bytes of one that is too large to be kept are not
 * fetched, and null: a hundred megabytes would take page and engine for half a second, to be thrown away.
 */
async function fileOf(
  path: string,
  signal: AbortSignal,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer> | null } | null> {
  const { ok, headers, body } = await askAsAdmin('view', urlOf(path), { signal });
  const isFile = ok && !headers.get('content-type')?.includes('json');
  if (isFile && Number(headers.get('content-length')) <= LARGEST) {
    return { bytes: new Uint8Array(await new Response(body).arrayBuffer()) };
  }
  await body?.cancel();
  return isFile ? { bytes: null } : null;
}

/** Null for what the editor does not show. */
export function textOf(path: string, bytes: Uint8Array): string | null {
  const isHidden = path.split('/').some((part) => part.startsWith('.'));
  if (isHidden || bytes.byteLength > LARGEST_TEXT) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The paths of all files below a folder that are kept. */
async function listed(folder: string, signal: AbortSignal): Promise<string[]> {
  const answer = await askAsAdmin('view', urlOf(folder), { signal });
  if (!answer.ok) throw new Error(await answer.text());
  const { entries } = (await answer.json()) as Folder;
  const found: string[] = [];
  for (const entry of entries) {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (!isKept(path)) continue;
    if (entry.folder) found.push(...(await listed(path, signal)));
    else found.push(path);
  }
  return found;
}
