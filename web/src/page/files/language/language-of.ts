import type { Language } from '../../editor/code-types';

/** A script of the learner's, which is run, and not applied. */
export function isScript(path: string): boolean {
  return languageOf(path) === 'javascript';
}

/** What a file of the workspace is written in: YAML, unless its name says otherwise. */
export function languageOf(path: string): Language {
  if (/\.json$/i.test(path)) return 'json';
  return /\.m?js$/i.test(path) ? 'javascript' : 'yaml';
}
