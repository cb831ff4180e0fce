import type { Summary } from '../../../answers/cluster';
import { engineState, type Notice, notice } from '../../engine/cluster';
import { clusterHere, hasPane, isEmbedded, scope } from '../../engine/here';
import { tabStorage } from '../../engine/storage';
import { go } from '../../frame/route';
import { words } from '../words';

/*
 * What has become of a cluster that this build has not made: of the file that it was opened from, or of what another build
 * of the page has kept. The visitor is told at once; the settings of the engine have it, too.
 */

/** Where the settings of the engine are, below `#settings`, with what is to be said of its start. */
export const ENGINE_PATH = '/engine';

const KEY = `kubetab.opened ${scope.pathname}`;
/** What a file says of itself is anybody's. */
const LONGEST_VERSION = 40;

/** Of this tab: the file that it goes to the cluster of. */
interface Opened extends Pick<Summary, 'kubernetes' | 'exact'> {
  readonly cluster: string;
}

/** Notes what is to be told in a cluster that has been made of a file, to which this tab goes. */
export function noteOpened(cluster: string, { kubernetes, exact }: Summary): void {
  tabStorage.keep(KEY, { cluster, kubernetes, exact } satisfies Opened);
}

/** To be called once, when the engine is ready. */
export function tellOpened(): void {
  const opened = tabStorage.value<Opened>(KEY);
  const isHere = opened?.cluster === clusterHere;
  if (isHere) tabStorage.keepText(KEY, null);
  const told = whatIsTold(isHere ? opened : null);
  if (told) notice.value = told;
}

function whatIsTold(opened: Opened | null): Notice | null {
  const state = engineState.value;
  if (state?.phase !== 'ready') return null;
  const { leftOut, notKept } = state.run;
  if (notKept !== null) {
    // Of a cluster that is kept, room.ts tells.
    return isEmbedded ? { text: () => words.bundles.refused(notKept) } : null;
  }
  const count = leftOut?.length ?? 0;
  if (count === 0) return opened && { text: () => fateOf(opened), passes: true };
  return {
    text: () => words.bundles.leftOut(opened ? fateOf(opened) : '', count),
    ...(hasPane('settings') && {
      action: { label: () => words.bundles.leftOutShow, run: showWhich },
    }),
  };
}

function fateOf({ exact, kubernetes }: Opened): string {
  const text = words.bundles.fromFile;
  return exact ? text.exact : text.takenOver(kubernetes.slice(0, LONGEST_VERSION));
}

function showWhich(): void {
  notice.value = null;
  go('settings', ENGINE_PATH);
}
