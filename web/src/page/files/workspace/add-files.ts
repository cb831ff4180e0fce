import { notice } from '../../engine/cluster';
import { words } from '../words';
import { freeName, openFile, writeFile } from './workspace';

const MOST = 1_000_000;

/** Adds files from the visitor's machine: text, of a size that an object can have. */
export async function addFiles(list: FileList): Promise<void> {
  for (const file of list) {
    if (file.size > MOST) {
      notice.value = { text: () => words.files.tooLarge(file.name) };
      continue;
    }
    const bytes = await file.arrayBuffer();
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      notice.value = { text: () => words.files.binary(file.name) };
      continue;
    }
    const path = freeName(file.name.replace(/[/\0]/g, '-'));
    writeFile(path, text);
    openFile(path);
  }
}
