import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { scope } from '../engine/here';
import { SHARED } from '../frame/route';
import { packId } from './content';
import { LinkField } from './LinkField';
import { hasStore, keep, MOST_KEPT } from './store';
import { words } from './words';

interface ShortLinkProps {
  /** What it is of; another value is another link. */
  readonly of: string;
  readonly lang: string;
  readonly type: string;
  readonly make: () => Promise<Uint8Array<ArrayBuffer>>;
}

/** A way to what no link has room for: nothing where the host keeps nothing, and nothing is sent unasked. */
export function ShortLink({ of, lang, type, make }: ShortLinkProps) {
  const isOffered = useSignal(false);
  const link = useSignal({ of: '', text: '' });
  const trouble = useSignal('');
  const busy = useSignal(false);
  useEffect(() => {
    void hasStore().then((has) => {
      isOffered.value = has;
    });
  }, []);
  if (!isOffered.value) return null;
  const send = async () => {
    trouble.value = '';
    busy.value = true;
    try {
      const bytes = await make();
      if (bytes.length > MOST_KEPT) throw new Error(words.short.large);
      const id = await keep(bytes, type);
      link.value = {
        of,
        text: `${scope.href}${lang && `?${lang}`}${SHARED}${packId(id)}`,
      };
    } catch (error) {
      trouble.value = error instanceof Error ? error.message : String(error);
    } finally {
      busy.value = false;
    }
  };
  if (link.value.of === of) {
    return <LinkField label={words.short.link} link={link.value.text} note={words.short.kept} />;
  }
  return (
    <>
      <p class="faint">{words.short.about}</p>
      <p class="share-archive">
        <button
          type="button"
          class="button small"
          disabled={busy.value}
          onClick={() => void send()}
        >
          {words.short.make}
        </button>
      </p>
      {trouble.value && (
        <p class="setting-note is-bad" role="alert">
          {trouble.value}
        </p>
      )}
    </>
  );
}
