import { signal } from '@preact/signals';

/** What the rail leads to. `requests` opens the drawer along the lower edge; on a phone each is a screen of its own. */
export const VIEWS = [
  'lessons',
  'cluster',
  'files',
  'terminal',
  'requests',
  'console',
  'settings',
] as const;
export type View = (typeof VIEWS)[number];

/**
 * Where the visitor is: the part of the address after `#`, so that a place can be linked to, and Back goes back.
 *
 *   #cluster                          the picture
 *   #cluster/apis/apps/v1/deployments a kind; `/namespaces/x` and a name as in the paths of the API
 *   #files/list                       on a phone the list of files, and not the editor
 *   #console
 *   #lessons                          the map of lessons
 *   #/lesson/read/watch/3             a lesson, and its third step
 *
 * A slash in front is read in each of them.
 */
export interface Route {
  readonly view: View;
  /** What follows the view, with its leading slash, or nothing; percent-encoded as in the paths of the API. */
  readonly path: string;
}

const FIRST: Route = { view: 'cluster', path: '' };

export const route = signal<Route>(read(location.hash));

/** The path of the list of files. */
export const LIST = '/list';

/** What the address of a link with files has instead of a place; `share/` takes it out again. */
export const SHARED = '#shared/';

/** Goes where the address leads when it changes. To be called once. */
export function followRoute(): void {
  addEventListener('hashchange', () => {
    if (!location.hash.startsWith(SHARED)) route.value = read(location.hash);
  });
}

/** The place that is shown, as it is in an address. */
export function place(): string {
  const { view, path } = route.value;
  return address(view, path);
}

export function go(view: View, path = ''): void {
  const hash = address(view, path);
  if (location.hash === hash) return;
  history.pushState(null, '', hash);
  route.value = { view, path };
}

/** As `go`, without a way back to the place that is left. */
export function replace(view: View, path: string): void {
  history.replaceState(null, '', address(view, path));
  route.value = { view, path };
}

/** Of a place, with its `#`. */
export function address(view: View, path: string): string {
  return view === 'lessons' && path ? `#/lesson${path}` : `#${view}${path}`;
}

function read(hash: string): Route {
  const text = hash.replace(/^#?\/?/, '').replace(/^lesson(?=\/|$)/, 'lessons');
  const end = text.indexOf('/');
  const name = end < 0 ? text : text.slice(0, end);
  const view = VIEWS.find((known) => known === name);
  return view ? { view, path: end < 0 ? '' : text.slice(end) } : FIRST;
}
