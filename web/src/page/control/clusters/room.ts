import { effect, untracked } from '@preact/signals';
import { engineState, type Notice, notice } from '../../engine/cluster';
import { clusterHere } from '../../engine/here';
import { go } from '../../frame/route';
import { bytes } from '../../parts/format';
import { words } from '../words';
import { saveBundle, told } from './bundles';
import { stored } from './clusters';
import { ENGINE_PATH } from './opened';
import { askInTime, isEvicted } from './stay';

/** Where the list of clusters is, below `#settings`. */
export const CLUSTERS_PATH = '/clusters';

/** With less than this the browser is nearly full, in bytes: some clusters, or the module with its snapshot. */
const LITTLE = 50_000_000;
/** How often it is looked how much room there is, in ms. */
const LOOK_EVERY = 5 * 60_000;

const showClusters = {
  label: () => words.room.show,
  run: () => {
    notice.value = null;
    go('settings', CLUSTERS_PATH);
  },
};

/** What is in the file is all that there may be soon. */
const save = {
  label: () => words.bundles.save,
  run: () => told(saveBundle(true)),
};

/** Whether there is another cluster, which can make room. */
async function hasOthers(): Promise<boolean> {
  const all = await stored.list().catch(() => []);
  return all.some(({ name }) => name !== clusterHere);
}

/** Tells, before anything is lost, when what happens is not kept, or soon will not be. To be called once. */
export function followRoom(): void {
  let last: string | null = null;
  let mine: Notice | null = null;
  const tell = (next: Notice) => {
    mine = next;
    notice.value = next;
  };
  effect(() => {
    const state = engineState.value;
    if (state?.phase !== 'ready') {
      last = null;
      return;
    }
    const { unkept, run } = state;
    untracked(() => {
      const now = unkept?.cause ?? (run.notKept === null ? null : 'notKept');
      if (now === last) return;
      const before = last;
      last = now;
      if (unkept?.cause === 'full') {
        void hasOthers().then((others) => {
          if (last === 'full')
            tell({ text: () => words.room.full(others), action: others ? showClusters : save });
        });
      } else if (unkept?.cause === 'lost') {
        // It takes a moment; what comes of it is told.
      } else if (unkept?.cause === 'deleted') {
        tell({ text: () => words.room.deleted, action: save });
      } else if (unkept) {
        tell({ text: () => words.room.failed(sentence(unkept.why)), action: save });
      } else if (now === 'notKept') {
        tell({ text: () => words.room.notKept, action: showWhy });
      } else if (before === 'full') {
        tell({ text: () => words.room.again, passes: true });
      } else if (before === 'lost') {
        tell({ text: () => words.room.whole, passes: true });
      } else if (notice.value === mine) {
        notice.value = null;
      }
    });
  });
  void look();
  setInterval(() => void look(), LOOK_EVERY);
  const state = engineState.value;
  if (state?.phase !== 'ready') return;
  if (isEvicted(state)) tell({ text: () => words.room.evicted });
  askInTime(state);
}

let isTold = false;

async function look(): Promise<void> {
  const { usage, quota } = (await navigator.storage?.estimate?.().catch(() => undefined)) ?? {};
  if (usage === undefined || quota === undefined) return;
  const free = Math.max(quota - usage, 0);
  if (free >= LITTLE) {
    isTold = false;
  } else if (!isTold && !notice.value) {
    isTold = true;
    const others = await hasOthers();
    notice.value = {
      text: () => words.room.low(bytes(free), others),
      action: others ? showClusters : save,
    };
  }
}

const showWhy = {
  label: () => words.room.why,
  run: () => {
    notice.value = null;
    go('settings', ENGINE_PATH);
  },
};

function sentence(why: string): string {
  return /[.!?]$/.test(why) ? why : `${why}.`;
}
