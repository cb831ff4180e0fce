import { readdirSync, readFileSync } from 'node:fs';

/**
 * The processes of a browser on this machine: its first one, and those that come from it.
 *
 * @param isFirst whether a process without `--type=` among its words is the one that is meant
 * @returns none if there is no such browser
 */
export function processesOf(isFirst: (words: readonly string[], parent: number) => boolean) {
  const parents = new Map<number, number>();
  let first = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const pid = Number(name);
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      parents.set(pid, parent);
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      if (!words.some((word) => word.startsWith('--type=')) && isFirst(words, parent)) first = pid;
    } catch {
      // It has ended.
    }
  }
  const all = [first];
  for (const pid of all) for (const [child, parent] of parents) if (parent === pid) all.push(child);
  return first === 0 ? [] : all;
}

/** Sends a signal to processes; one that has ended does not mind. */
export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended with another.
    }
  }
}
