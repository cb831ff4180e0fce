import { signal } from '@preact/signals';
import { mayPrepare } from '../../engine/first-moments';
import { go } from '../../frame/route';
import { collectionPath, idOf, type Kind, kinds } from '../kinds';
import { namespace } from '../namespace';
import { openKind } from '../navigate';
import type { KubeObject } from '../object';
import { useWatch } from '../use-watch';
import { metadata } from '../watch';
import { words } from '../words';
import { OPEN_FIRST, type Section, type SectionId, sectionsOf } from './sections';

const opened = signal<ReadonlySet<SectionId>>(new Set(OPEN_FIRST));

/** All kinds of the cluster, with how many there are of each; a menu where there is no room for a list. */
export function KindList({ chosen, onPicture }: { chosen: Kind | null; onPicture: boolean }) {
  const sections = sectionsOf(kinds.value);
  return (
    <>
      <nav class="kinds" aria-label={words.nav}>
        <button
          type="button"
          class="kind"
          aria-current={onPicture ? 'page' : undefined}
          onClick={() => go('cluster')}
        >
          <span class="kind-name">{words.picture}</span>
        </button>
        {sections.map((section) => (
          <SectionList key={section.id} section={section} chosen={chosen} />
        ))}
        {sections.length === 0 && <p class="empty">{words.discovering}</p>}
      </nav>
      <div class="kinds-menu">
        <select
          class="field"
          aria-label={words.chooseKind}
          value={chosen ? idOf(chosen) : ''}
          onChange={(event) => {
            const { value } = event.currentTarget;
            const kind = kinds.value.find((each) => idOf(each) === value);
            if (kind) openKind(kind);
            else go('cluster');
          }}
        >
          <option value="">{words.picture}</option>
          {sections.map((section) => (
            <optgroup key={section.id} label={words.sections[section.id]}>
              {section.kinds.map((kind) => (
                <option key={idOf(kind)} value={idOf(kind)} translate={false}>
                  {kind.kind}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </div>
    </>
  );
}

function SectionList({ section, chosen }: { section: Section; chosen: Kind | null }) {
  const open = opened.value.has(section.id);
  return (
    <div class="kind-section">
      <button
        type="button"
        class="kind-title"
        aria-expanded={open}
        onClick={() => {
          const next = new Set(opened.value);
          if (!next.delete(section.id)) next.add(section.id);
          opened.value = next;
        }}
      >
        {words.sections[section.id]}
      </button>
      {open &&
        section.kinds.map((kind) => (
          <KindButton key={idOf(kind)} kind={kind} isChosen={kind === chosen} />
        ))}
    </div>
  );
}

const META = metadata<KubeObject>();

/** Counted by a watch of metadata only. */
function KindButton({ kind, isChosen }: { kind: Kind; isChosen: boolean }) {
  const { items, state } = useWatch(
    mayPrepare.value ? collectionPath(kind, namespace.value) : null,
    META,
  );
  return (
    <button
      type="button"
      class="kind"
      aria-current={isChosen ? 'page' : undefined}
      translate={false}
      title={idOf(kind)}
      onClick={() => openKind(kind)}
    >
      <span class="kind-name" translate={false}>
        {kind.kind}
      </span>
      {state === 'live' && <span class="kind-count">{items.size}</span>}
      {state === 'refused' && <span class="kind-count">{'\u2013'}</span>}
    </button>
  );
}
