import type { Run } from '../../protocol';
import { engineState, notice, restartEngine } from '../engine/cluster';
import { read, refusalOf, same, spell } from './engine-settings';
import { words } from './words';

/**
 * Does what the address asks for: `?emulated-version=1.36&feature-gates=...`. A visitor who has no cluster yet is given
 * that engine at once. Where there is a cluster, it may be dear to somebody: they are asked. To be called once.
 */
export function followAddress(): void {
  const query = new URLSearchParams(location.search);
  if (![...query.keys()].some((key) => KEYS.has(key))) return;
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
    // An engine that was there before this page may have objects of other tabs.
    void obey(query, state.run, sawStart && state.run.cluster === 'new');
    queueMicrotask(() => stop());
  });
}

const KEYS = new Set([
  'emulated-version',
  'feature-gates',
  'runtime-config',
  'nodes',
  'controllers',
  'scheduler',
]);

async function obey(query: URLSearchParams, run: Run, isEmpty: boolean): Promise<void> {
  try {
    const wanted = read(query);
    if (same(wanted, run.settings)) return;
    const refusal = await refusalOf(wanted);
    if (refusal) {
      notice.value = { text: () => words.address.refused(refusal) };
      return;
    }
    if (isEmpty) {
      restartEngine('none', wanted);
      return;
    }
    const asked = spell(wanted).replaceAll('&', ', ');
    notice.value = {
      text: () => `${words.address.asks(asked)} ${words.address.lost}`,
      action: {
        label: () => words.address.restart,
        run: () => restartEngine('kept', wanted),
      },
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    notice.value = { text: () => words.address.unreadable(why) };
  }
}
