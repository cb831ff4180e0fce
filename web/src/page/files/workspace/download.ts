import { words } from '../words';
import type { WorkspaceFile } from './workspace';

/** Hands files to the visitor, in one archive. */
export async function downloadZip(files: readonly WorkspaceFile[]): Promise<void> {
  const { strToU8, zipSync } = await import('fflate');
  const bytes = zipSync(Object.fromEntries(files.map(({ path, text }) => [path, strToU8(text)])));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(
    new Blob([bytes as Uint8Array<ArrayBuffer>], { type: 'application/zip' }),
  );
  link.download = words.files.archive;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
