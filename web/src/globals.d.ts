import type { ModuleInfo } from './engine/module';

declare global {
  /** Written by the build. */
  const __MODULE__: ModuleInfo;
  /** The host has the module, its snapshot and the rest as .gz alone, and this site unpacks them; written by the build. */
  const __PACKED__: boolean;
  /** The page's files for offline use, relative to the scope; written by the build into sw.ts. */
  const __PRECACHE__: readonly string[];
  /** The files of the lessons, relative to the scope; written by the build into sw.ts. */
  const __LESSONS__: readonly string[];
  /** Names the precache: differs for every build that differs. */
  const __BUILD__: string;
}
