import '../files/open';
import { files, freeName, opened, openFile, writeFile } from '../files/workspace';

/** Puts files into the workspace, but for those whose names are taken, and opens the first. */
export async function putMissingFiles(
  brought: readonly (readonly [string, string])[],
): Promise<void> {
  await untilOpened();
  for (const [path, text] of brought) {
    if (!files.value.some((file) => file.path === path)) writeFile(path, text);
  }
  const first = brought[0]?.[0];
  if (first) openFile(first);
}

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
  return new Promise((resolve) => {
    // The first call comes before `subscribe` returns.
    const stop = opened.subscribe((isOpen) => {
      if (!isOpen) return;
      queueMicrotask(() => stop());
      resolve();
    });
  });
}
