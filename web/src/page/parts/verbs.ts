/** What a request means to Kubernetes, as far as its method and path tell. */
export interface RequestInfo {
  /** list, watch, get, create, update, patch, delete, deletecollection - or the method in lower case for other paths. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Subresources of a namespace itself; any other word after its name is a resource inside it. */
const OF_NAMESPACES = new Set(['status', 'finalize']);

/** Follows RequestInfoFactory.NewRequestInfo of k8s.io/apiserver/pkg/endpoints/request. */
export function requestInfo(method: string, path: string): RequestInfo {
  const [pathname = '', query = ''] = path.split('?', 2);
  const parts = pathname.split('/').filter((part) => part !== '');
  const none = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' };
  const plain = { ...none, verb: method.toLowerCase() };
  const root = parts.shift();
  const group = root === 'apis' ? parts.shift() : '';
  const version = parts.shift();
  if ((root !== 'api' && root !== 'apis') || group === undefined || !version || !parts.length) {
    return plain;
  }
  let verb = VERBS[method] ?? method.toLowerCase();
  const old = parts[0] === 'watch';
  if (old) parts.shift();
  let namespace = '';
  const [first, second, third] = parts;
  if (first === 'namespaces' && second !== undefined) {
    namespace = second;
    if (third !== undefined && !OF_NAMESPACES.has(third)) parts.splice(0, 2);
  }
  const [resource = '', name = '', ...rest] = parts;
  if (!name) {
    if (verb === 'get') verb = old || isWatch(query) ? 'watch' : 'list';
    if (verb === 'delete') verb = 'deletecollection';
  }
  return { verb, group, version, resource, subresource: rest.join('/'), namespace, name };
}

/** Kubernetes reads booleans in queries generously: `watch`, `watch=1` and `watch=true` are the same. */
export function isWatch(query: string): boolean {
  const value = new URLSearchParams(query).get('watch');
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** A list, watch, get ... has one colour everywhere: this names its CSS class. */
export function verbClass(verb: string): string {
  switch (verb) {
    case 'watch':
      return 'verb-watch';
    case 'create':
    case 'post':
      return 'verb-create';
    case 'update':
    case 'put':
    case 'patch':
      return 'verb-patch';
    case 'delete':
    case 'deletecollection':
      return 'verb-delete';
    default:
      return 'verb-get';
  }
}
