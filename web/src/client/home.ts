import { reachOverChannel } from './bridge';
import { engineName, workerName } from './cluster-names';
import { EngineLink } from './link';

/** Held, for each engine, by the tab whose worker runs it, in browsers without SharedWorker. */
const LEADER_LOCK = 'kubetab-leader ';

/**
 * Where this tab finds the engine:
 *
 * - `shared`: a SharedWorker, which lives as long as any tab does;
 * - `leader`: a worker of this tab, which won the election; other tabs use it too, and it ends with this tab;
 * - `follower`: the worker of another tab. When that tab closes, one of the others starts the engine again.
 * - `alone`: a worker of the frame that embed.html is in, or of another frame of the same page.
 */
export type Home = 'shared' | 'leader' | 'follower' | 'alone';

export interface HomeEvents {
  /** A connection was made, at first and after every loss that could be mended. */
  onLink(link: EngineLink, home: Home): void;
  /** The worker could not even be loaded. */
  onBroken(why: string): void;
}

/**
 * Connects this tab to the engine of a cluster and keeps it connected. `reopen` is for when the worker is gone.
 *
 * @param folder path of the site
 */
export function findEngine(
  folder: string,
  cluster: string,
  events: HomeEvents,
): { reopen(): void } {
  let reopen: (() => void) | null = null;
  const elect = () => {
    ({ reopen } = byElection(folder, cluster, events));
  };
  if (typeof SharedWorker === 'function') {
    const again = inSharedWorker(cluster, events, elect);
    reopen ??= again;
  } else {
    elect();
  }
  return { reopen: () => reopen?.() };
}

/** How long a page waits for a SharedWorker's first word until it connects once more, in ms. */
const UNHEARD = 5000;

/** @param instead called when a SharedWorker cannot be started: browsers refuse it where storage is closed to the site */
function inSharedWorker(cluster: string, events: HomeEvents, instead: () => void): () => void {
  const start = () => {
    // public/early.js has begun it, and with the same options: browsers compare them.
    const worker = new SharedWorker(new URL('../engine/worker.ts', import.meta.url), {
      type: 'module',
      name: workerName(cluster),
      // Where it is known (Chromium), the worker outlives its last page: for minutes, if it did not end itself. A reload
      // would otherwise be the end of the engine when only one tab is open. See Parties.
      extendedLifetime: true,
    } as WorkerOptions);
    const link = new EngineLink(worker.port, 'page');
    // Who connects to a worker that is ending is told nothing. One that only has much to do gets to know the page twice.
    const silent = setTimeout(() => {
      open();
      link.close();
    }, UNHEARD);
    const heard = () => clearTimeout(silent);
    link.welcomed().then(heard, heard);
    worker.onerror = () => {
      heard();
      // A worker that came as far as to say what it does reports its errors itself. All connections hear of one that cannot be
      // loaded, also those that the page has given up.
      if (!link.state && !link.lost.aborted) instead();
    };
    events.onLink(link, 'shared');
  };
  const open = () => {
    try {
      start();
    } catch {
      instead();
    }
  };
  open();
  return open;
}

function byElection(folder: string, cluster: string, events: HomeEvents): { reopen(): void } {
  const engine = engineName(folder, __MODULE__.url, cluster);
  let worker: Worker | null = null;
  const lead = () => {
    worker?.terminate();
    try {
      worker = new Worker(new URL('../engine/worker.ts', import.meta.url), {
        type: 'module',
        name: workerName(cluster),
      });
    } catch (error) {
      events.onBroken(String(error));
      return;
    }
    const { port1, port2 } = new MessageChannel();
    const link = new EngineLink(port2, 'page');
    worker.onerror = (event) => {
      // A worker that came as far as to say what it does reports its errors itself.
      if (link.state) return;
      events.onBroken(event.message || 'The script of the engine worker could not be loaded.');
    };
    worker.postMessage(port1, [port1]);
    events.onLink(link, 'leader');
  };
  if (!navigator.locks) {
    lead();
    return { reopen: lead };
  }
  const following = reachOverChannel(engine, (port) => {
    if (!worker) events.onLink(new EngineLink(port, 'page'), 'follower');
  });
  navigator.locks
    .request(LEADER_LOCK + engine, () => {
      following.stop();
      lead();
      return new Promise<never>(() => undefined);
    })
    .catch(() => {
      // Storage is closed to this site, and locks with it: each tab has an engine of its own.
      following.stop();
      lead();
    });
  return { reopen: () => (worker ? lead() : undefined) };
}
