import './cluster.css';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { PaneBar } from '../../frame/PaneBar';
import { go, route } from '../../frame/route';
import { Cut } from '../../parts/CutName';
import { requestInfo } from '../../parts/verbs';
import { PictureView } from '../../picture/PictureView';
import { findKind, followKinds, idOf, type Kind, kinds } from '../kinds';
import { namespace } from '../namespace';
import { openKind } from '../navigate';
import type { KubeObject } from '../object';
import { ObjectPage } from '../objects/ObjectPage';
import { useWatch } from '../use-watch';
import { metadata } from '../watch';
import { words } from '../words';
import { KindList } from './KindList';
import { TablePage } from './TablePage';

/** The cluster as it is: the picture, a table for every kind, a page for every object. */
export function ClusterView() {
  useLayoutEffect(followKinds, []);
  const { path } = route.value;
  const place = placeOf(path);
  return (
    <section class="cluster pane">
      <PaneBar pane="left">
        <Crumbs place={place} />
        <NamespaceMenu />
      </PaneBar>
      <div class="cluster-body">
        <KindList chosen={place.kind} onPicture={path === ''} />
        <div class="cluster-content">
          {path === '' ? (
            <PictureView />
          ) : place.kind && place.name ? (
            <ObjectPage
              key={`${idOf(place.kind)} ${place.namespace}/${place.name}`}
              kind={place.kind}
              namespace={place.namespace}
              name={place.name}
            />
          ) : place.kind ? (
            <TablePage key={idOf(place.kind)} kind={place.kind} />
          ) : (
            <p class="empty">{kinds.value.length > 0 ? words.table.unknown : words.discovering}</p>
          )}
        </div>
      </div>
    </section>
  );
}

interface Place {
  readonly kind: Kind | null;
  readonly namespace: string;
  readonly name: string;
}

/** The paths of the view are those of the API. */
function placeOf(path: string): Place {
  const { group, resource, namespace: inside, name } = requestInfo('GET', path);
  const kind = resource ? findKind(group, resource) : null;
  return { kind, namespace: kind?.namespaced ? decoded(inside) : '', name: decoded(name) };
}

/** A name may hold what has a meaning in an address: `?`, `#`, and more in the names of roles. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // somebody wrote it by hand
  }
}

function Crumbs({ place }: { place: Place }) {
  return (
    <nav class="crumbs" aria-label={words.chooseKind}>
      {place.kind ? (
        <>
          <button type="button" class="link" onClick={() => go('cluster')}>
            {words.picture}
          </button>
          <span aria-hidden="true">/</span>
          {place.name ? (
            <>
              <button
                type="button"
                class="link"
                translate={false}
                onClick={() => place.kind && openKind(place.kind)}
              >
                {place.kind.kind}
              </button>
              <span class="crumb-object" aria-hidden="true">
                /
              </span>
              <span class="crumb-name crumb-object" translate={false}>
                <Cut text={place.name} />
              </span>
            </>
          ) : (
            <span class="crumb-name" translate={false}>
              {place.kind.kind}
            </span>
          )}
        </>
      ) : (
        <span class="crumb-name">{words.picture}</span>
      )}
    </nav>
  );
}

const META = metadata<KubeObject>();

function NamespaceMenu() {
  const { items } = useWatch('/api/v1/namespaces', META);
  const names = [...items.values()].map(({ metadata: { name } }) => name).sort();
  const now = namespace.value;
  useEffect(() => {
    // It was deleted: what it held has gone with it.
    if (now && items.size > 0 && !names.includes(now)) namespace.value = '';
  }, [items]);
  return (
    <select
      class="field namespace-menu"
      aria-label={words.namespace}
      value={now}
      onChange={(event) => {
        namespace.value = event.currentTarget.value;
      }}
    >
      <option value="">{words.allNamespaces}</option>
      {names.map((name) => (
        <option key={name} value={name} translate={false}>
          {name}
        </option>
      ))}
    </select>
  );
}
