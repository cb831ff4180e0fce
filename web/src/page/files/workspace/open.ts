import { effect } from '@preact/signals';
import { kindOf, suffixOf } from '../../../client/cluster-names';
import { clusterHere, isEmbedded, scope } from '../../engine/here';
import { tabStorage } from '../../engine/storage';
import { arrange } from '../../frame/layout';
import type { PaletteCommand } from '../../frame/palette-commands';
import { go, route } from '../../frame/route';
import { once } from '../../parts/once';
import { words } from '../words';
import { sharedWithTerminal } from './engine-files';
import { localStorageOfFiles, localStorageOfOthers } from './local-storage';
import { memoryOfFiles, memoryOfOthers } from './memory-storage';
import { samples } from './samples';
import {
  activePath,
  files,
  freeName,
  type OpenFiles,
  openFile,
  openPaths,
  openWorkspace,
  writeFile,
} from './workspace';

/** Of this tab in this cluster. */
const OPEN = `kubetab.files.open ${scope.pathname}${suffixOf(clusterHere)}`;

/** Reads the files that are kept, and keeps from then on which of them are open. For whoever needs the workspace. */
export const openFiles = once(() => {
  // A lesson brings its own.
  const first = kindOf(clusterHere) === 'lesson' ? [] : samples();
  void openWorkspace(
    isEmbedded
      ? // An engine that begins with files of a bundle has them in place of the first.
        sharedWithTerminal(memoryOfFiles(first), memoryOfOthers())
      : sharedWithTerminal(localStorageOfFiles(), localStorageOfOthers()),
    first,
    openBefore(),
  ).then(() =>
    effect(() => {
      const open: OpenFiles = { paths: openPaths.value, active: activePath.value };
      tabStorage.keep(OPEN, open);
    }),
  );
});

function openBefore(): OpenFiles | null {
  const found = tabStorage.value<Partial<OpenFiles>>(OPEN);
  return Array.isArray(found?.paths) && typeof found.active === 'string'
    ? { paths: found.paths, active: found.active }
    : null;
}

/** Opens a file, and on a phone shows the screen that it is on. */
export function showFile(path: string): void {
  openFile(path);
  if (route.value.view === 'lessons') arrange({ stage: 'files' });
  else if (route.value.view !== 'cluster') go('files');
}

export function newFile(): void {
  const path = freeName(words.newName);
  writeFile(path, '');
  showFile(path);
}

/** For the palette: every file, and a new one. */
export function fileCommands(): readonly PaletteCommand[] {
  const group = words.files.title;
  return [
    ...files.value.map(({ path }) => ({
      id: `file ${path}`,
      names: 'label' as const,
      label: path,
      group,
      weight: 6,
      run: () => showFile(path),
    })),
    { id: 'new file', label: words.newFile, group, run: newFile },
  ];
}
