import './share.css';
import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { localStorageOfOthers } from '../files/workspace/local-storage';
import { openFiles } from '../files/workspace/open';
import { files, opened, openFile, writeFile } from '../files/workspace/workspace';
import { Dialog } from '../frame/Dialog';
import { go } from '../frame/route';
import { spoken } from '../frame/spoken';
import { bytes } from '../parts/format';
import { read } from './content';
import { type SharedFile, sizeOf, type Unreadable, UnreadableLink } from './link';
import { forgetShared, receiving } from './open';
import { type Planned, planOf } from './plan';
import { ReceivedCluster } from './ReceivedCluster';
import { words } from './words';

/** What a preview shows at most, in characters. */
const PREVIEW = 20_000;

/** What a link brings, before any of it is taken. It comes from anybody: it is shown, and nothing is done with it. */
export function ReceiveDialog() {
  const shared = useSignal<readonly SharedFile[] | null>(null);
  const cluster = useSignal<Uint8Array<ArrayBuffer> | null>(null);
  const trouble = useSignal<Unreadable | null>(null);
  const others = useSignal<readonly string[] | null>(null);
  const left = useSignal<ReadonlySet<SharedFile>>(new Set());
  useEffect(() => {
    openFiles();
    read(receiving.value ?? '').then(
      (found) => {
        if (found.kind === 'files') shared.value = found.files;
        else cluster.value = found.bytes;
      },
      (error: unknown) => {
        trouble.value = error instanceof UnreadableLink ? error.reason : 'damaged';
        forgetShared();
      },
    );
    void localStorageOfOthers()
      .paths()
      .catch(() => []) // storage is closed to this window, and holds nothing
      .then((paths) => {
        others.value = paths;
      });
  }, []);
  // Made anew when a file comes or goes meanwhile: what is added is what is shown.
  const plan = useComputed(() =>
    shared.value && others.value && opened.value
      ? planOf(shared.value, files.value, others.value)
      : null,
  );
  const close = () => {
    forgetShared();
    receiving.value = null;
  };
  const isWanted = (planned: Planned, i: number) => {
    const file = shared.value?.[i];
    return isOffered(planned) && file !== undefined && !left.value.has(file);
  };
  const wanted = plan.value?.filter(isWanted) ?? [];
  const add = () => {
    close();
    for (const { to, text } of wanted) writeFile(to, text);
    const [first] = wanted;
    if (first) openFile(first.to);
    go('files');
    spoken.value = words.received.added(wanted.length);
  };
  if (cluster.value) return <ReceivedCluster bytes={cluster.value} onClose={close} />;
  const text = words.received;
  return (
    <Dialog class="receive" title={text.title} onClose={close}>
      {trouble.value ? (
        <p role="alert">{text.unreadable[trouble.value]}</p>
      ) : !plan.value ? (
        <p aria-busy="true">{text.reading}</p>
      ) : (
        <>
          <p>{text.about}</p>
          <ul class="share-files">
            {plan.value.map((planned, i) => (
              <Row
                // Two may have one name.
                key={i}
                planned={planned}
                isWanted={isWanted(planned, i)}
                onWant={(want) => {
                  const file = shared.value?.[i];
                  if (!file) return;
                  const next = new Set(left.value);
                  if (want) next.delete(file);
                  else next.add(file);
                  left.value = next;
                }}
              />
            ))}
          </ul>
        </>
      )}
      <p class="dialog-buttons">
        {plan.value?.some(isOffered) && (
          <button type="button" class="button primary" disabled={wanted.length === 0} onClick={add}>
            {text.add(wanted.length)}
          </button>
        )}
        <button type="button" class="button" onClick={close}>
          {plan.value ? text.leave : text.close}
        </button>
      </p>
    </Dialog>
  );
}

function isOffered({ fate }: Planned): boolean {
  return fate === 'new' || fate === 'renamed';
}

interface RowProps {
  readonly planned: Planned;
  readonly isWanted: boolean;
  readonly onWant: (want: boolean) => void;
}

function Row({ planned, isWanted, onWant }: RowProps) {
  const { path, text, fate, to } = planned;
  return (
    <li>
      <label class="toggle">
        <input
          type="checkbox"
          checked={isWanted}
          disabled={!isOffered(planned)}
          onChange={(event) => onWant(event.currentTarget.checked)}
        />
        <bdi class="share-name" translate={false}>
          {shown(path)}
        </bdi>
      </label>
      <span class="faint">{bytes(sizeOf([planned]))}</span>
      {fate !== 'new' && <p class={`share-fate is-${fate}`}>{words.received.fates[fate](to)}</p>}
      <details>
        <summary>{words.received.look}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <pre tabIndex={0} translate={false}>
          {text.slice(0, PREVIEW)}
        </pre>
      </details>
    </li>
  );
}

/** A name with its letters that cannot be seen spelled out, and not longer than there is room for. */
function shown(path: string): string {
  const spelled = path.replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`,
  );
  return spelled.length > 120 ? `${spelled.slice(0, 120)}\u2026` : spelled || '""';
}
