import type { Record as RequestRecord } from '../../answers/requestlog';
import { words } from '../words';

/** Who made a request: the command, a part of the page in words, or a component of the cluster by its own name. */
export function maker({ command, from }: RequestRecord): string {
  const parts: Readonly<Record<string, string>> = words.strip.from;
  return command || (parts[from] ?? from);
}

/** Whether it is a part of the page: others have names, which are the same in every language. */
export function isPart({ command, from }: RequestRecord): boolean {
  return !command && Object.hasOwn(words.strip.from, from);
}
