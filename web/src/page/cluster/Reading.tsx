import { etcdStopped } from '../engine/cluster';
import { words as frame } from '../words';
import type { Snapshot } from './watch';
import { words } from './words';

interface ReadingProps {
  readonly state: Snapshot<unknown>['state'];
  /** What is shown while the API server reads. */
  readonly loading: string;
}

/**
 * Why there are no objects yet. A watch that begins with the existing objects asks etcd for the newest
 * revision (k8s.io/apiserver/pkg/storage/cacher), so it waits as long as etcd is stopped. A button then starts
 * etcd.
 */
export function Reading({ state, loading }: ReadingProps) {
  if (state === 'waiting') return <p class="empty">{words.table.waiting}</p>;
  if (!etcdStopped.value) return <p class="empty">{loading}</p>;
  return (
    <div class="empty" role="status">
      <p>{words.noEtcd}</p>
      <button
        type="button"
        class="button small primary"
        onClick={() => void import('../control/etcd').then(({ setEtcd }) => setEtcd(false))}
      >
        {frame.details.etcd.start}
      </button>
    </div>
  );
}
