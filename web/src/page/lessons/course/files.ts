import { askAsAdmin, refused } from '../../engine/ask';
import { openFiles } from '../../files/workspace/open';
import { files, freeName, opened, openFile, writeFile } from '../../files/workspace/workspace';

/**
 * Puts files into the workspace, but for those whose names are taken: they are the learner's. Resolves when commands in
 * the terminal find them.
 *
 * @throws Refused in the engine's words
 */
export async function putMissingFiles(
  brought: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  await untilOpened();
  const taken = new Set(files.value.map(({ path }) => path));
  const missing = Object.entries(brought).filter(([path]) => !taken.has(path));
  for (const [path, text] of missing) {
    writeFile(path, text);
    const place = path.split('/').map(encodeURIComponent).join('/');
    const answer = await askAsAdmin('editor', `${HOME}/${place}`, { method: 'PUT', body: text });
    if (!answer.ok) throw refused(answer.status, await answer.text());
    await answer.body?.cancel();
  }
  return missing.map(([path]) => path);
}

/** The folder of the workspace, as core/shell serves it. */
const HOME = '/kubetab/files/home/kubetab';

/**
 * Opens a text as a file of the workspace. One of that name with another text is the learner's: the text is then put
 * beside it.
 */
export async function openText(wish: string, text: string): Promise<string> {
  await untilOpened();
  const there = files.value.find(({ path }) => path === wish);
  const path = !there || there.text === text ? wish : freeName(wish);
  if (!there || there.text !== text) writeFile(path, text);
  openFile(path);
  return path;
}

function untilOpened(): Promise<void> {
  openFiles();
  return new Promise((resolve) => {
    // The first call comes before `subscribe` returns.
    const stop = opened.subscribe((isOpen) => {
      if (!isOpen) return;
      queueMicrotask(() => stop());
      resolve();
    });
  });
}

export { openFile };
