import type { FileChange, Folder } from '../../../answers/shell';
import { askAsAdmin } from '../../engine/ask';
import { ready } from '../../engine/cluster';
import { framesOf } from '../../engine/frames';
import type { OtherFiles } from './local-storage';
import type { Editor, Storage, WorkspaceFile } from './workspace';

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

/** A text of a file that both have had, this page and the engine, or at first the copy that the engine was given. */
interface Agreed {
  readonly text: string;
  /** The engine's name of it, empty if it has none; null as long as nobody has asked. */
  readonly tag: string | null;
  /** The last that were made of it here, and sent to where the engine, or the next one, may have got them. */
  readonly sent: Set<string>;
}

/** How many texts are remembered that the engine may have got without saying so. */
const MOST_SENT = 10;

function remember(sent: Set<string> | undefined, text: string): void {
  if (!sent) return;
  sent.add(text);
  const [oldest = text] = sent;
  if (sent.size > MOST_SENT) sent.delete(oldest);
}

/**
 * The workspace as the terminal sees it, over a copy that outlives the engine. An engine that starts is given the
 * files of the copy. From then on the engine's files count, and files that commands write are taken into the copy. Where
 * one types and a command writes, or another page, the file has what both have written.
 *
 * @param kept what the editor shows
 * @param others the rest: what is no text, is hidden or too large
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it is long because all that it returns shares what one copy knows of its engine
export function sharedWithTerminal(kept: Storage, others: OtherFiles): Storage {
  let online = false;
  let editor: Editor | null = null;
  /** Changed here while there was no engine to tell. */
  const untold = new Set<string>();
  const removing = new Set<string>();
  const agreed = new Map<string, Agreed>();
  const agree = (path: string, text: string, tag: string | null) =>
    agreed.set(path, { text, tag, sent: new Set() });
  const inTurn = turns();

  /** Tells the engine what the editor shows, once that has what is new there. To be called in turn. */
  async function put(path: string, otherwise: string): Promise<void> {
    for (;;) {
      const text = editor?.textOf(path) ?? otherwise;
      const before = agreed.get(path);
      if (before?.tag !== null) {
        if (before?.text === text) return;
        remember(before?.sent, text);
        const tag = await send(path, text, before?.tag);
        if (tag !== null) {
          agree(path, text, tag);
          return;
        }
      }
      if (!(await take(path))) return;
    }
  }

  async function drop(path: string): Promise<void> {
    await askAsAdmin('editor', urlOf(path), { method: 'DELETE' });
  }

  /**
   * Takes over a file of the terminal's: into the editor if it is one that an editor can show. To be called in turn.
   *
   * @returns whether the editor has the file then
   */
  async function take(path: string, signal?: AbortSignal): Promise<boolean> {
    const file = await fileOf(path, signal);
    const { bytes, tag } = file ?? { bytes: null, tag: '' };
    const text = bytes && textOf(path, bytes);
    if (text !== null && agreed.get(path)?.sent.has(text)) agree(path, text, tag);
    const before = agreed.get(path);
    /** Whether something has been typed that neither has. */
    const isAhead = () => before && ![undefined, before.text, text].includes(editor?.textOf(path));
    if (text === null) {
      agreed.delete(path);
      if (!file && isAhead()) return true; // it is made again, with what was typed
      if (bytes) await others.save(path, bytes);
      else if (!file) await others.remove(path);
      editor?.show(path, null);
      await kept.remove(path);
      return false;
    }
    if (removing.has(path)) return false;
    if (before?.text === text) {
      agree(path, text, tag);
      return true;
    }
    const merged = isAhead() ? (await import('./merge')).merged : null;
    // From here to where it is shown nobody can type.
    const shown = editor?.textOf(path);
    const both = merged && before && shown !== undefined ? merged(before.text, shown, text) : text;
    agree(path, text, tag);
    if (shown !== both) editor?.show(path, both);
    await kept.save({ path, text: both });
    await others.remove(path);
    return true;
  }

  return {
    async load() {
      const files = await kept.load();
      for (const { path, text } of files) if (!agreed.has(path)) agree(path, text, null);
      return files;
    },
    async save(file) {
      const { path, text } = file;
      remember(agreed.get(path)?.sent, text);
      await kept.save(file);
      if (online) await inTurn(path, () => put(path, text));
      else untold.add(path);
    },
    async remove(path) {
      removing.add(path);
      try {
        agreed.delete(path);
        await kept.remove(path);
        if (online) await inTurn(path, () => drop(path));
        else untold.add(path);
      } finally {
        removing.delete(path);
      }
    },
    onLost(save) {
      /** The engine has them. */
      const saveOthers = async () => {
        for (const path of await listed('', new AbortController().signal)) {
          const bytes = (await fileOf(path))?.bytes;
          if (bytes && textOf(path, bytes) === null) await others.save(path, bytes);
        }
      };
      kept.onLost?.(() => {
        save();
        void saveOthers().catch(() => undefined); // as long as there is an engine, they are there
      });
    },
    follow(by) {
      editor = by;
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
        for (const path of there) await hear(path, signal);
        for (const { path } of mine) if (!there.has(path)) await hear(path, signal);
        for (const path of await others.paths()) if (!there.has(path)) await others.remove(path);
        if (!news.ok || !news.body) return;
        for await (const frame of framesOf(news.body)) {
          const change = JSON.parse(frame) as FileChange;
          const path = change.path.slice(HOME.length + 1);
          if (isKept(path)) await hear(path, signal);
        }
      }

      /** Takes over what is new of a file, and tells the engine what is new here. What cannot be read stays as it is. */
      async function hear(path: string, signal: AbortSignal): Promise<void> {
        try {
          await inTurn(path, async () => {
            if ((await take(path, signal)) && editor?.textOf(path) !== undefined)
              await put(path, '');
          });
        } catch (error) {
          if (signal.aborted) throw error;
        }
      }

      /** Gives an engine that has just started all files. */
      async function give(mine: readonly WorkspaceFile[]): Promise<void> {
        agreed.clear();
        for (const { path, text } of mine) await inTurn(path, () => put(path, text));
        for (const path of await others.paths()) {
          const bytes = await others.read(path);
          if (!bytes) continue;
          try {
            await send(path, bytes);
          } catch (error) {
            if (path !== KUBECONFIG) throw error;
            // It is none: the engine has the first one again, and has put this one beside it.
            by.refused(error instanceof Error ? error.message : String(error));
          }
        }
        await askAsAdmin('editor', MARK, { method: 'PUT', body: '' });
      }

      /** Tells an engine that has its files what was changed here before it could be asked. */
      async function tell(paths: readonly string[], mine: readonly WorkspaceFile[]): Promise<void> {
        for (const path of paths) {
          const file = mine.find((each) => each.path === path);
          await inTurn(path, () => (file ? put(path, file.text) : drop(path)));
        }
      }
    },
  };
}

/** Has what is done to one path happen one after the other. */
function turns() {
  const last = new Map<string, Promise<unknown>>();
  return <T>(path: string, act: () => Promise<T>): Promise<T> => {
    const mine = (last.get(path) ?? Promise.resolve()).then(act, act);
    last.set(path, mine);
    return mine;
  };
}

/**
 * Writes a file of the terminal's.
 *
 * @param was the tag of the text that is to be replaced; whatever is there if it is empty
 * @returns the tag of what is there then, empty if the engine has told none; null if another text is there
 */
async function send(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  was = '',
): Promise<string | null> {
  const answer = await askAsAdmin('editor', urlOf(path), {
    method: 'PUT',
    body,
    headers: was ? [['If-Match', was]] : [],
  });
  if (answer.status === 412) {
    await answer.body?.cancel();
    return null;
  }
  if (!answer.ok) throw new Error(await answer.text());
  return answer.headers.get('etag') ?? '';
}

/**
 * What is in a file of the terminal's, with its tag; null where there is none. The bytes of one that is too large to be
 * kept are not fetched, and null: a hundred megabytes would take page and engine for half a second, to be thrown away.
 */
async function fileOf(
  path: string,
  signal?: AbortSignal,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer> | null; readonly tag: string } | null> {
  const answer = await askAsAdmin('view', urlOf(path), signal ? { signal } : {});
  const { ok, status, headers, body } = answer;
  if (!ok && status !== 404) throw new Error(await answer.text());
  const isFile = ok && !headers.get('content-type')?.includes('json');
  const tag = headers.get('etag') ?? '';
  if (isFile && Number(headers.get('content-length')) <= LARGEST) {
    return { bytes: new Uint8Array(await new Response(body).arrayBuffer()), tag };
  }
  await body?.cancel();
  return isFile ? { bytes: null, tag } : null;
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
