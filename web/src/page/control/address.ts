import type { EngineSettings } from '../../protocol';
import { engineState, notice, restartEngine } from '../engine/cluster';
import { words as frameWords } from '../words';
import { refusalOf } from './engine-settings';
import { CLUSTERS, fill, type Prepared, startPrepared } from './prepared';
import { read, same, spell } from './settings-text';
import { words } from './words';

/** What an address can ask for: `?cluster=shop&emulated-version=1.36&feature-gates=...`. */
const KEYS = [
  'cluster',
  'emulated-version',
  'feature-gates',
  'runtime-config',
  'nodes',
  'controllers',
  'scheduler',
] as const;

/**
 * Does what the address asks for, which is then taken out of it: a reload asks for nothing. A visitor who has no cluster
 * yet is given that engine at once. Where there is a cluster, it may be dear to somebody: they are asked. To be called
 * once.
 */
export function followAddress(): void {
  const query = new URLSearchParams(location.search);
  if (!KEYS.some((key) => query.has(key))) return;
  let stop = () => {};
  let done = false;
  let sawStart = false;
  stop = engineState.subscribe((state) => {
    if (done || !state) return;
    if (state.phase !== 'ready') {
      sawStart = true;
      return;
    }
    done = true;
    queueMicrotask(() => stop());
    // An engine that was there before this page may have objects of other tabs.
    const isEmpty = sawStart && state.run.cluster === 'new';
    obey(query, state.run.settings, isEmpty).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      notice.value = { text: () => words.address.unreadable(why) };
    });
    forget();
  });
}

function forget(): void {
  const address = new URL(location.href);
  for (const key of KEYS) address.searchParams.delete(key);
  history.replaceState(history.state, '', address);
}

async function obey(
  query: URLSearchParams,
  running: EngineSettings,
  isEmpty: boolean,
): Promise<void> {
  const asked = query.get('cluster');
  const cluster = CLUSTERS.find((name) => name === asked) ?? null;
  if (asked !== null && !cluster) {
    notice.value = { text: () => words.address.unknown(asked, CLUSTERS.join(', ')) };
    return;
  }
  const wanted = KEYS.some((key) => key !== 'cluster' && query.has(key)) ? read(query) : running;
  const isOther = !same(wanted, running);
  if (!isOther && !cluster) return;
  const refusal = isOther ? await refusalOf(wanted) : '';
  if (refusal) {
    notice.value = { text: () => words.address.refused(refusal) };
  } else if (cluster) {
    startCluster(cluster, wanted, isEmpty, isOther);
  } else if (isEmpty) {
    restartEngine('none', wanted);
  } else {
    const spelled = spell(wanted).replaceAll('&', ', ');
    notice.value = {
      text: () => `${words.address.asks(spelled)} ${words.address.lost}`,
      action: {
        label: () => words.address.restart,
        run: () => restartEngine('kept', wanted),
      },
    };
  }
}

function startCluster(
  name: Prepared,
  settings: EngineSettings,
  isEmpty: boolean,
  isOther: boolean,
): void {
  if (isEmpty) {
    void (isOther ? startPrepared(name, settings) : fill(name));
    return;
  }
  notice.value = {
    text: () => words.address.cluster(frameWords.cluster.prepared[name]),
    action: {
      label: () => words.address.start,
      run: () => void startPrepared(name, settings),
    },
  };
}
