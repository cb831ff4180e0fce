import '../style/settings.css';
import './share.css';
import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { preparedName } from '../control/clusters/cluster-name';
import { running } from '../control/settings/engine-settings';
import { spell } from '../control/settings/settings-text';
import { scope } from '../engine/cluster';
import { downloadZip } from '../files/workspace/download';
import { openFiles } from '../files/workspace/open';
import { files } from '../files/workspace/workspace';
import { Dialog } from '../frame/Dialog';
import { place, SHARED } from '../frame/route';
import { language } from '../language/current';
import { bytes } from '../parts/format';
import { words as frameWords } from '../words';
import { ClusterPart } from './ClusterPart';
import { FILES_TYPE } from './content';
import { LinkField } from './LinkField';
import { LONGEST_LINK, MOST_BYTES, MOST_FILES, pack, packBytes, sizeOf } from './link';
import { sharing } from './open';
import { ShortLink } from './ShortLink';
import { words } from './words';

/** Links to what is seen, to what was written, and to the cluster. No server is told, unless a short link is asked for. */
export function ShareDialog() {
  useEffect(openFiles, []);
  const inMine = useSignal(false);
  const lang = inMine.value ? `lang=${language.value}` : '';
  const close = () => {
    sharing.value = false;
  };
  return (
    <Dialog class="share" title={words.title} onClose={close}>
      <ViewPart lang={lang} />
      <FilesPart lang={lang} />
      <ClusterPart lang={lang} />
      <label class="toggle share-language">
        <input
          type="checkbox"
          checked={inMine.value}
          onChange={(event) => {
            inMine.value = event.currentTarget.checked;
          }}
        />
        {words.inMine}
      </label>
    </Dialog>
  );
}

/** The same place in a cluster of the reader's own, made as this one was. */
function ViewPart({ lang }: { lang: string }) {
  const prepared = preparedName.value;
  const settings = spell(running.value ?? {});
  const query = [prepared && `cluster=${prepared}`, settings, lang].filter(Boolean).join('&');
  const made = [
    ...(prepared ? [frameWords.cluster.prepared[prepared]] : []),
    ...(settings ? [words.view.settings] : []),
  ];
  return (
    <section>
      <h3>{words.view.title}</h3>
      <p class="faint">
        {made.length > 0 ? words.view.with(made) : words.view.about} {words.view.without}
      </p>
      <LinkField label={words.view.link} link={`${scope.href}${query && `?${query}`}${place()}`} />
    </section>
  );
}

function FilesPart({ lang }: { lang: string }) {
  const left = useSignal<ReadonlySet<string>>(new Set());
  const chosen = useComputed(() => files.value.filter(({ path }) => !left.value.has(path)));
  const packed = useSignal({ files: '', text: '' });
  const list = chosen.value;
  const isMuch = list.length > MOST_FILES || sizeOf(list) > MOST_BYTES;
  // A list is made anew with every key that is typed, and mostly holds the same.
  const now = JSON.stringify(list);
  useEffect(() => {
    let isOld = false;
    if (list.length > 0 && !isMuch) {
      void pack(list).then((text) => {
        if (!isOld) packed.value = { files: now, text };
      });
    }
    return () => {
      isOld = true;
    };
  }, [now]);
  const text = packed.value.files === now ? packed.value.text : '';
  const link = text && `${scope.href}${lang && `?${lang}`}${SHARED}${text}`;
  const isLong = link.length > LONGEST_LINK;
  return (
    <section>
      <h3>{words.files.title}</h3>
      <p class="faint">{words.files.about}</p>
      <ul class="share-files">
        {files.value.map(({ path, text }) => (
          <li key={path}>
            <label class="toggle">
              <input
                type="checkbox"
                checked={!left.value.has(path)}
                onChange={(event) => {
                  const next = new Set(left.value);
                  if (event.currentTarget.checked) next.delete(path);
                  else next.add(path);
                  left.value = next;
                }}
              />
              <span class="share-name" translate={false}>
                {path}
              </span>
            </label>
            <span class="faint">{bytes(sizeOf([{ path, text }]))}</span>
          </li>
        ))}
      </ul>
      {list.length === 0 ? (
        <p class="faint">{words.files.none}</p>
      ) : isMuch ? (
        <p class="setting-note is-warn">{words.files.much(MOST_FILES, bytes(MOST_BYTES))}</p>
      ) : isLong ? (
        <>
          <p class="setting-note is-warn">{words.files.long(link.length, LONGEST_LINK)}</p>
          <ShortLink of={now} lang={lang} type={FILES_TYPE} make={() => packBytes(list)} />
        </>
      ) : (
        <LinkField
          label={words.files.link}
          link={link}
          note={link && words.files.length(link.length)}
        />
      )}
      {list.length > 0 && (
        <p class="share-archive">
          <button type="button" class="button small" onClick={() => void downloadZip(list)}>
            {words.files.zip}
          </button>
        </p>
      )}
    </section>
  );
}
