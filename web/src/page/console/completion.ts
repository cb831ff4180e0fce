import { api } from '../engine/cluster';
import { type Words, words } from './words';

export interface Suggestion {
  /** The whole path with the suggestion in it. */
  readonly value: string;
  readonly label: string;
  readonly detail: string;
}

/** A resource as aggregated discovery describes it. */
interface Resource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
}

/** Resources by the path of their group and version, such as `/apis/apps/v1`. */
type Catalogue = ReadonlyMap<string, readonly Resource[]>;

type Example = { readonly example: string };
type Hint = keyof Words['hints'];

const ROOTS: readonly (readonly [path: string, hint: Hint])[] = [
  ['/api/v1/', 'core'],
  ['/apis', 'discovery'],
  ['/openapi/v3', 'openapi'],
  ['/openapi/v2', 'openapi2'],
  ['/version', 'version'],
  ['/readyz?verbose', 'readyz'],
  ['/livez?verbose', 'livez'],
  ['/healthz', 'healthz'],
  ['/metrics', 'metrics'],
  ['/openid/v1/jwks', 'jwks'],
  ['/.well-known/openid-configuration', 'openid'],
];

/** A hint, or what could be written there; and the methods that take it. */
const PARAMETERS: readonly (readonly [string, Hint | Example, RegExp])[] = [
  ['watch=1', 'watch', /^GET$/],
  ['limit=', 'limit', /^GET$/],
  ['continue=', 'continue', /^GET$/],
  ['labelSelector=', { example: 'app=web,tier!=test' }, /^(GET|DELETE)$/],
  ['fieldSelector=', { example: 'metadata.name=x' }, /^(GET|DELETE)$/],
  ['resourceVersion=', 'resourceVersion', /^GET$/],
  ['resourceVersionMatch=', { example: 'Exact, NotOlderThan' }, /^GET$/],
  ['allowWatchBookmarks=true', 'bookmarks', /^GET$/],
  ['sendInitialEvents=true', 'initialEvents', /^GET$/],
  ['timeoutSeconds=', 'timeout', /^GET$/],
  ['dryRun=All', 'dryRun', /^(POST|PUT|PATCH|DELETE)$/],
  ['fieldManager=', 'fieldManager', /^(POST|PUT|PATCH)$/],
  ['fieldValidation=Strict', 'strict', /^(POST|PUT|PATCH)$/],
  ['force=true', 'force', /^PATCH$/],
  ['propagationPolicy=', { example: 'Foreground, Background, Orphan' }, /^DELETE$/],
  ['pretty=true', 'pretty', /./],
];

const MOST = 50;
const FRESH_MS = 15_000;

/**
 * Completions of the path typed so far: groups and resources from the server's discovery, names from lists of
 * metadata. Nothing is suggested that the server does not know.
 *
 * @throws nothing: a server that cannot be asked gives fewer suggestions
 */
export async function suggest(method: string, typed: string): Promise<readonly Suggestion[]> {
  const question = typed.indexOf('?');
  if (question >= 0) return parameters(method, typed, question);
  const slash = typed.lastIndexOf('/');
  const folder = typed.slice(0, slash + 1);
  const last = typed.slice(slash + 1);
  const catalogue = await known();
  const found =
    folder === '/' || folder === '' ? roots(catalogue) : await inside(folder, catalogue);
  return rank(found, last, typed);
}

function parameters(method: string, typed: string, question: number): readonly Suggestion[] {
  const start = Math.max(question, typed.lastIndexOf('&')) + 1;
  const before = typed.slice(0, start);
  const last = typed.slice(start);
  if (last.includes('=')) return [];
  const fitting = PARAMETERS.filter(
    ([text, , methods]) => methods.test(method) && !before.includes(text.split('=', 1)[0] ?? text),
  );
  return rank(
    fitting.map(([label, hint]) => ({
      value: before + label,
      label,
      detail: typeof hint === 'string' ? words.hints[hint] : hint.example,
    })),
    last,
    typed,
  );
}

function roots(catalogue: Catalogue): Suggestion[] {
  const fixed = ROOTS.map(([value, hint]) => ({
    value,
    label: value,
    detail: words.hints[hint],
  }));
  const groups = [...catalogue.keys()]
    .filter((path) => path !== '/api/v1')
    .map((path) => ({ value: `${path}/`, label: `${path}/`, detail: words.hints.group }));
  const [core, ...rest] = fixed;
  return core ? [core, ...groups, ...rest] : groups;
}

/** Suggestions for what may follow a path that ends with a slash. */
async function inside(folder: string, catalogue: Catalogue): Promise<Suggestion[]> {
  const path = folder.replace(/\/$/, '');
  const gv = [...catalogue.keys()].find((key) => path === key || path.startsWith(`${key}/`));
  if (!gv) {
    return [...catalogue.keys()]
      .filter((key) => key.startsWith(folder))
      .map((key) => ({
        value: `${key}/`,
        label: key.slice(folder.length),
        detail: words.hints.group,
      }));
  }
  const resources = catalogue.get(gv) ?? [];
  const parts = path.slice(gv.length).split('/').filter(Boolean);
  const inNamespace = parts[0] === 'namespaces' && parts.length >= 2;
  const tail = inNamespace ? parts.slice(2) : parts;
  const entry = (label: string, detail: string) => ({ value: folder + label, label, detail });

  if (tail.length === 0) {
    const fitting = resources.filter((r) => !inNamespace || r.namespaced);
    const found = fitting.map((r) => entry(r.name, r.kind));
    if (!inNamespace && gv !== '/api/v1') found.push(entry('namespaces/', words.hints.inNamespace));
    if (inNamespace && gv === '/api/v1')
      found.push(
        entry('status', words.hints.subresource),
        entry('finalize', words.hints.subresource),
      );
    return found;
  }
  const [resource = '', name] = tail;
  if (resource === 'namespaces' && name === undefined) {
    const names = await namesIn('/api/v1/namespaces');
    return names.map((each) => entry(gv === '/api/v1' ? each : `${each}/`, 'Namespace'));
  }
  const type = resources.find((r) => r.name === resource);
  if (!type) return [];
  if (name === undefined) {
    if (!type.verbs.includes('list')) return [];
    return (await namesIn(path)).map((each) => entry(each, type.kind));
  }
  return tail.length === 2
    ? type.subresources.map((each) => entry(each, words.hints.subresource))
    : [];
}

/** Those that begin with the last word before those that contain it. */
function rank(found: readonly Suggestion[], last: string, typed: string): readonly Suggestion[] {
  const word = last.toLowerCase();
  const position = ({ label }: Suggestion) => {
    const at = label.replace(/^\//, '').toLowerCase().indexOf(word);
    return at < 0 ? Number.POSITIVE_INFINITY : Math.min(at, 1);
  };
  return found
    .map((suggestion) => ({ suggestion, at: position(suggestion) }))
    .filter(({ suggestion, at }) => Number.isFinite(at) && suggestion.value !== typed)
    .sort((a, b) => a.at - b.at)
    .slice(0, MOST)
    .map(({ suggestion }) => suggestion);
}

/* What was asked of the server a moment ago is asked again only when it may have changed. */

const asked = new Map<string, { readonly at: number; readonly answer: Promise<unknown> }>();

function ask(path: string, accept: string): Promise<unknown> {
  const key = `${accept} ${path}`;
  const recent = asked.get(key);
  if (recent && Date.now() - recent.at < FRESH_MS) return recent.answer;
  const answer = api()
    .request(path, { headers: { Accept: accept } })
    .then((response) => (response.ok ? response.json() : Promise.reject(response.status)));
  asked.set(key, { at: Date.now(), answer });
  answer.catch(() => asked.delete(key));
  return answer;
}

interface Discovery {
  items?: {
    metadata?: { name?: string };
    versions: {
      version: string;
      resources?: {
        resource: string;
        responseKind?: { kind?: string };
        scope: string;
        verbs?: string[];
        subresources?: { subresource: string }[];
      }[];
    }[];
  }[];
}

const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

async function known(): Promise<Catalogue> {
  const catalogue = new Map<string, Resource[]>();
  const answers = await Promise.allSettled([ask('/api', DISCOVERY), ask('/apis', DISCOVERY)]);
  for (const answer of answers) {
    if (answer.status === 'rejected') continue;
    for (const group of (answer.value as Discovery).items ?? []) {
      const name = group.metadata?.name;
      for (const { version, resources = [] } of group.versions) {
        catalogue.set(
          name ? `/apis/${name}/${version}` : `/api/${version}`,
          resources.map((r) => ({
            name: r.resource,
            kind: r.responseKind?.kind ?? '',
            namespaced: r.scope === 'Namespaced',
            verbs: r.verbs ?? [],
            subresources: (r.subresources ?? []).map((s) => s.subresource),
          })),
        );
      }
    }
  }
  return catalogue;
}

async function namesIn(collection: string): Promise<readonly string[]> {
  try {
    const list = (await ask(`${collection}?limit=200`, METADATA)) as {
      items?: { metadata?: { name?: string } }[];
    };
    return (list.items ?? []).flatMap(({ metadata }) => metadata?.name ?? []);
  } catch {
    return [];
  }
}
