import { preparedCluster } from '../../../client/cluster-names';
import type { EngineSettings } from '../../../protocol';
import { engineState, notice, restartEngine } from '../../engine/cluster';
import { clusterHere } from '../../engine/here';
import { CLUSTERS, fill, startPrepared } from '../clusters/prepared';
import { words } from '../words';
import { refusalOf } from './engine-settings';
import { read, same, spell } from './settings-text';

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
 * Applies the settings and the prepared cluster that the address names, and removes them from the address, so that a
 * reload does not apply them again. A new cluster gets both without a question. If the cluster exists already, the
 * visitor is asked first. To be called once.
 */
export function followAddress(): void {
  const query = new URLSearchParams(location.search);
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
  if (!KEYS.some((key) => address.searchParams.has(key))) return;
  for (const key of KEYS) address.searchParams.delete(key);
  history.replaceState(history.state, '', address);
}

async function obey(
  query: URLSearchParams,
  running: EngineSettings,
  isEmpty: boolean,
): Promise<void> {
  const asked = query.get('cluster');
  // public/early.js has gone to every one that there is.
  if (asked !== null && asked !== clusterHere && preparedCluster(asked) !== clusterHere) {
    notice.value = { text: () => words.address.unknown(asked, CLUSTERS.join(', ')) };
    return;
  }
  const wanted = KEYS.some((key) => key !== 'cluster' && query.has(key)) ? read(query) : running;
  const isOther = !same(wanted, running);
  const refusal = isOther ? await refusalOf(wanted) : '';
  const prepared = isEmpty && CLUSTERS.find((name) => preparedCluster(name) === clusterHere);
  if (refusal) {
    notice.value = { text: () => words.address.refused(refusal) };
  } else if (prepared) {
    void (isOther ? startPrepared(prepared, wanted) : fill(prepared));
  } else if (isOther && isEmpty) {
    restartEngine('none', wanted);
  } else if (isOther) {
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
