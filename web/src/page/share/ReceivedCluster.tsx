import { useSignal } from '@preact/signals';
import { openBundle } from '../control/clusters/bundles';
import { ready } from '../engine/cluster';
import { Dialog } from '../frame/Dialog';
import { bytes as amount } from '../parts/format';
import { words } from './words';

interface ReceivedClusterProps {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly onClose: () => void;
}

/** A cluster that a link brings, from anybody. The engine looks at it when it is wanted, and it becomes a new cluster. */
export function ReceivedCluster({ bytes, onClose }: ReceivedClusterProps) {
  const trouble = useSignal('');
  const busy = useSignal(false);
  const text = words.receivedCluster;
  const open = async () => {
    trouble.value = '';
    busy.value = true;
    try {
      // It leads to the new cluster, with an address that holds nothing of the link.
      await openBundle(new File([bytes], text.name));
    } catch (error) {
      busy.value = false;
      trouble.value = error instanceof Error ? error.message : String(error);
    }
  };
  return (
    <Dialog class="receive" title={text.title} onClose={onClose}>
      <p>{text.about(amount(bytes.length))}</p>
      {trouble.value && (
        <p class="setting-note is-bad" role="alert">
          {trouble.value}
        </p>
      )}
      <p class="dialog-buttons">
        <button
          type="button"
          class="button primary"
          disabled={busy.value || !ready.value}
          onClick={() => void open()}
        >
          {text.open}
        </button>
        <button type="button" class="button" onClick={onClose}>
          {text.leave}
        </button>
      </p>
    </Dialog>
  );
}
