import { JsonFrames } from '../console/frames';
import { askAsAdmin } from '../engine/ask';
import { ready } from '../engine/cluster';
import type { Storage, WorkspaceFile } from './workspace';

/** Where the terminal's files are; the workspace is its home folder. */
const HOME = '/home/kubetab';
const LARGEST = 1_000_000;

const urlOf = (path: string) =>
  `/kubetab/files${`${HOME}/${path}`.split('/').map(encodeURIComponent).join('/')}`;

/**
 * The workspace as the terminal sees it, over a copy that outlives the engine: what the copy has is put into every
 * engine that starts, and what commands write comes back into it.
 */
export function sharedWithTerminal(kept: Storage): Storage {
  let online = false;
  const put = async ({ path, text }: WorkspaceFile) => {
    const answer = await askAsAdmin('editor', urlOf(path), { method: 'PUT', body: text });
    if (!answer.ok) throw new Error(await answer.text());
  };
  return {
    load: () => kept.load(),
    async save(file) {
      await kept.save(file);
      if (online) await put(file);
    },
    async remove(path) {
      await kept.remove(path);
      if (online) await askAsAdmin('editor', urlOf(path), { method: 'DELETE' });
    },
    follow(onChange) {
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
        const first = await askAsAdmin('editor', urlOf(''), { signal });
        await first.body?.cancel();
        if (!first.ok) return;
        for (const file of await kept.load()) await put(file);
        online = true;
        const changes = await askAsAdmin('view', `${urlOf('')}?watch=1`, { signal });
        const reader = changes.ok ? changes.body?.getReader() : undefined;
        for (const path of await listed('', signal)) await take(path, signal);
        const frames = new JsonFrames();
        const decoder = new TextDecoder();
        while (reader) {
          const { done, value } = await reader.read();
          if (done) return;
          for (const frame of frames.add(decoder.decode(value, { stream: true }))) {
            const change = JSON.parse(frame) as { type: string; path: string };
            const path = change.path.slice(HOME.length + 1);
            if (change.type === 'deleted') {
              await kept.remove(path);
              onChange(path, null);
            } else {
              await take(path, signal);
            }
          }
        }
      }

      /** Takes over a file of the terminal's, if it is one that an editor can show. */
      async function take(path: string, signal: AbortSignal): Promise<void> {
        if (path.split('/').some((part) => part.startsWith('.'))) return;
        const answer = await askAsAdmin('view', urlOf(path), { signal });
        const isFile = answer.ok && !answer.headers.get('content-type')?.includes('json');
        const bytes = await answer.arrayBuffer();
        if (!isFile || bytes.byteLength > LARGEST) return;
        try {
          const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
          await kept.save({ path, text });
          onChange(path, text);
        } catch {
          // Not text: it stays the terminal's.
        }
      }
    },
  };
}

/** The paths of all files below a folder, without those that begin with a dot. */
async function listed(folder: string, signal: AbortSignal): Promise<string[]> {
  const answer = await askAsAdmin('view', urlOf(folder), { signal });
  if (!answer.ok) return [];
  const { entries } = (await answer.json()) as {
    entries: readonly { name: string; folder: boolean; size: number }[];
  };
  const found: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (entry.folder) found.push(...(await listed(path, signal)));
    else if (entry.size <= LARGEST) found.push(path);
  }
  return found;
}
