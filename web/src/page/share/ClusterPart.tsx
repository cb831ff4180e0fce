import { useSignal } from '@preact/signals';
import { bundleOf, saveBundle } from '../control/clusters/bundles';
import { words as controlWords } from '../control/words';
import { ready } from '../engine/cluster';
import { scope } from '../engine/here';
import { SHARED } from '../frame/route';
import { bytes } from '../parts/format';
import { BUNDLE_TYPE, packBundle } from './content';
import { LinkField } from './LinkField';
import { ShortLink } from './ShortLink';
import { words } from './words';

/** The cluster itself, as it is now: in a link, as a file, or with the host. */
export function ClusterPart({ lang }: { lang: string }) {
  const secrets = useSignal(false);
  const made = useSignal<{ readonly size: number; readonly text: string } | null>(null);
  const trouble = useSignal('');
  const busy = useSignal(false);
  const attempt = async (doing: () => Promise<void>) => {
    trouble.value = '';
    busy.value = true;
    try {
      await doing();
    } catch (error) {
      trouble.value = error instanceof Error ? error.message : String(error);
    } finally {
      busy.value = false;
    }
  };
  const make = async () => {
    const file = (await bundleOf(secrets.value, 'compact')).bytes;
    made.value = { size: file.length, text: packBundle(file) };
  };
  const isOff = busy.value || !ready.value;
  const text = words.cluster;
  return (
    <section>
      <h3>{text.title}</h3>
      <p class="faint">{text.about}</p>
      <label class="toggle">
        <input
          type="checkbox"
          checked={secrets.value}
          onChange={(event) => {
            secrets.value = event.currentTarget.checked;
            made.value = null;
          }}
        />
        {text.secrets}
      </label>
      {made.value?.text ? (
        <LinkField
          label={text.link}
          link={`${scope.href}${lang && `?${lang}`}${SHARED}${made.value.text}`}
          note={text.inLink}
        />
      ) : (
        made.value && (
          <>
            <p class="setting-note is-warn">{text.large(bytes(made.value.size))}</p>
            <ShortLink
              of={String(secrets.value)}
              lang={lang}
              type={BUNDLE_TYPE}
              make={async () => (await bundleOf(secrets.value)).bytes}
            />
          </>
        )
      )}
      <p class="share-archive clock-buttons">
        {!made.value && (
          <button
            type="button"
            class="button small"
            disabled={isOff}
            onClick={() => void attempt(make)}
          >
            {text.make}
          </button>
        )}
        <button
          type="button"
          class="button small"
          disabled={isOff}
          onClick={() => void attempt(() => saveBundle(secrets.value))}
        >
          {controlWords.bundles.save}
        </button>
      </p>
      {trouble.value && (
        <p class="setting-note is-bad" role="alert">
          {trouble.value}
        </p>
      )}
    </section>
  );
}
