import { words } from '../words';

/** Who made a request, in words; a component of the cluster goes by its own name. */
export function maker(from: string): string {
  const known: Readonly<Record<string, string>> = words.strip.from;
  return known[from] ?? from;
}
