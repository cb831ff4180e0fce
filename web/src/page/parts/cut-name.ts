/** Letters that stay of the end of a name. */
export const END = 6;

/** A name cut in the middle to at most so many characters: what differs between the Pods of one owner is the end. */
export function cut(name: string, most: number): string {
  if (name.length <= most) return name;
  const end = Math.min(END, most - 1);
  return `${name.slice(0, Math.max(most - end - 1, 0))}\u2026${name.slice(-end)}`;
}
