import type { Kubetab } from './client';
import type { Session } from './run';

/** A shell of the page, for the snippets that name it. */
export interface Shell {
  readonly session: Session;
  /** The snippets that have run in it, so that what depends on them need not run them again. */
  readonly ran: Set<Element>;
  /** Settles when nothing runs or waits any more. */
  last: Promise<void>;
  /** How many run or wait. */
  busy: number;
}

/** An engine that begins anew has none of the shells of the one before. */
let engine: Kubetab | null = null;
const shells = new Map<string, Shell>();

/** The shell of a name. */
export function shellOf(kubetab: Kubetab, name: string): Shell {
  if (engine !== kubetab) shells.clear();
  engine = kubetab;
  let shell = shells.get(name);
  if (!shell) {
    const session = kubetab.session();
    shell = { session, ran: new Set(), last: Promise.resolve(), busy: 0 };
    shells.set(name, shell);
  }
  return shell;
}

/** Ends what runs in a shell. The next command of its name has a new one. */
export function endShell(name: string): void {
  const shell = shells.get(name);
  shells.delete(name);
  shell?.session.end().catch(() => undefined); // the engine has gone, and the shell with it
}

/**
 * Does something in a shell after all that was begun in it before: a shell is for one command at a time.
 *
 * @throws what it throws, and the signal's reason
 */
export async function inTurn<T>(
  shell: Shell,
  signal: AbortSignal,
  run: () => Promise<T>,
): Promise<T> {
  const before = shell.last;
  let leave = () => {};
  shell.busy++;
  shell.last = new Promise((left) => {
    leave = left;
  });
  try {
    await until(before, signal);
    return await run();
  } finally {
    shell.busy--;
    // A command that gives up before its turn lets no other command pass those before it.
    void before.then(leave);
  }
}

/**
 * What a promise settles with, unless the signal comes first.
 *
 * @throws what the promise is rejected with, and the signal's reason
 */
export function until<T>(promised: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    // A page's signal may outlive any number of promises.
    signal.addEventListener('abort', stop, { once: true });
    promised.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
