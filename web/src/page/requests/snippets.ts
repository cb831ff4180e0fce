import { requestInfo } from '../parts/verbs';

/** What is needed to make a request again. */
export interface Repeatable {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly contentType: string;
}

/** Headers that say how a request travelled, or who made it, and not what it asks. */
const INCIDENTAL =
  /^(accept-encoding|accept-language|authorization|connection|content-length|host|kubectl-.*|kubetab-.*|origin|referer|sec-.*|user-agent|cache-control|pragma|audit-id|priority|dnt|upgrade-insecure-requests)$/i;

export function telling(
  headers: readonly (readonly [string, string])[],
): readonly (readonly [string, string])[] {
  return headers.filter(([name, value]) => !INCIDENTAL.test(name) && value !== '*/*');
}

/** For any cluster that has a kubeconfig. Where kubectl has no --raw for a method, the command that does the same. */
export function asKubectl(request: Repeatable): string {
  const { method, path, body, contentType } = request;
  const flags = impersonation(request.headers);
  const stdin = body ? ` -f - <<'EOF'\n${body.trimEnd()}\nEOF` : '';
  switch (method) {
    case 'GET':
      return `kubectl get --raw ${shell(path)}${flags}`;
    case 'POST':
      return `kubectl create --raw ${shell(path)}${flags}${stdin || ' -f /dev/null'}`;
    case 'PUT':
      return `kubectl replace --raw ${shell(path)}${flags}${stdin}`;
    case 'DELETE':
      return `kubectl delete --raw ${shell(path)}${flags}${stdin}`;
    case 'PATCH':
      return patch(path, body, contentType, flags);
    default:
      return `# kubectl has no way to send ${method}.`;
  }
}

function patch(path: string, body: string, contentType: string, flags: string): string {
  const { resource, group, version, name, namespace, subresource } = requestInfo('PATCH', path);
  const place = namespace && resource !== 'namespaces' ? ` -n ${shell(namespace)}` : '';
  const query = new URLSearchParams(path.split('?', 2)[1] ?? '');
  if (contentType.includes('apply-patch')) {
    const manager = query.get('fieldManager');
    const as = manager ? ` --field-manager=${shell(manager)}` : '';
    const force = query.get('force') === 'true' ? ' --force-conflicts' : '';
    const dry = query.has('dryRun') ? ' --dry-run=server' : '';
    return `kubectl apply --server-side${as}${force}${dry}${place}${flags} -f - <<'EOF'\n${body.trimEnd()}\nEOF`;
  }
  const type = /json-patch/.test(contentType)
    ? 'json'
    : /strategic/.test(contentType)
      ? 'strategic'
      : 'merge';
  const kind = group ? `${resource}.${version}.${group}` : resource;
  const part = subresource ? ` --subresource=${subresource}` : '';
  return `kubectl patch ${kind} ${shell(name)}${place}${part} --type=${type}${flags} -p ${shell(body)}`;
}

function impersonation(headers: readonly (readonly [string, string])[]): string {
  const flags = headers.flatMap(([name, value]) => {
    if (/^impersonate-user$/i.test(name)) return [` --as=${shell(value)}`];
    if (/^impersonate-group$/i.test(name)) return [` --as-group=${shell(value)}`];
    return [];
  });
  return flags.join('');
}

/** A call of the dynamic client, or of the plain REST client for what is no resource. */
export function asClientGo(request: Repeatable): string {
  const { method, path, body } = request;
  const info = requestInfo(method, path);
  const query = new URLSearchParams(path.split('?', 2)[1] ?? '');
  if (!info.resource) {
    const [bare = ''] = path.split('?', 1);
    const verb = method === 'GET' ? 'Get()' : `Verb(${go(method)})`;
    const params = [...query].map(([name, value]) => `\n\tParam(${go(name)}, ${go(value)}).`);
    const payload = body ? `\n\tBody([]byte(${go(body)})).` : '';
    return `clientset.RESTClient().${verb}.\n\tAbsPath(${go(bare)}).${params.join('')}${payload}\n\tDoRaw(ctx)`;
  }
  const gvr = `schema.GroupVersionResource{Group: ${go(info.group)}, Version: ${go(info.version)}, Resource: ${go(info.resource)}}`;
  const inNamespace =
    info.namespace && info.resource !== 'namespaces' ? `.Namespace(${go(info.namespace)})` : '';
  const resource = `dynamicClient.Resource(${gvr})${inNamespace}`;
  const sub = info.subresource ? `, ${go(info.subresource)}` : '';
  const object = body ? 'object' : 'nil';
  const options = (type: string, fields: string[]) => `metav1.${type}{${fields.join(', ')}}`;
  const dry = query.has('dryRun') ? ['DryRun: []string{metav1.DryRunAll}'] : [];
  const manager = query.get('fieldManager');
  const managed = manager ? [...dry, `FieldManager: ${go(manager)}`] : dry;
  const say =
    object === 'object'
      ? `// object is an *unstructured.Unstructured of:\n${commented(body)}\n`
      : '';
  switch (info.verb) {
    case 'list':
    case 'watch': {
      const call = info.verb === 'list' ? 'List' : 'Watch';
      return `${resource}.${call}(ctx, ${options('ListOptions', listFields(query))})`;
    }
    case 'get':
      return `${resource}.Get(ctx, ${go(info.name)}, ${options('GetOptions', [])}${sub})`;
    case 'create':
      return `${say}${resource}.Create(ctx, ${object}, ${options('CreateOptions', managed)}${sub})`;
    case 'update':
      return `${say}${resource}.Update(ctx, ${object}, ${options('UpdateOptions', managed)}${sub})`;
    case 'delete':
      return `${resource}.Delete(ctx, ${go(info.name)}, ${options('DeleteOptions', dry)}${sub})`;
    case 'deletecollection':
      return `${resource}.DeleteCollection(ctx, ${options('DeleteOptions', dry)}, ${options('ListOptions', listFields(query))})`;
    default: {
      const type = PATCH_TYPES.find(([media]) => request.contentType.includes(media))?.[1];
      const force = query.get('force') === 'true' ? ['Force: ptr.To(true)'] : [];
      return `${resource}.Patch(ctx, ${go(info.name)}, types.${type ?? 'MergePatchType'}, []byte(${go(body)}), ${options('PatchOptions', [...managed, ...force])}${sub})`;
    }
  }
}

const PATCH_TYPES = [
  ['apply-patch', 'ApplyYAMLPatchType'],
  ['json-patch', 'JSONPatchType'],
  ['strategic', 'StrategicMergePatchType'],
] as const;

const LIST_FIELDS: Readonly<Record<string, string>> = {
  labelSelector: 'LabelSelector',
  fieldSelector: 'FieldSelector',
  resourceVersion: 'ResourceVersion',
  continue: 'Continue',
};

function listFields(query: URLSearchParams): string[] {
  const fields: string[] = [];
  for (const [name, value] of query) {
    const field = LIST_FIELDS[name];
    if (field) fields.push(`${field}: ${go(value)}`);
    if (name === 'limit' && /^\d+$/.test(value)) fields.push(`Limit: ${value}`);
    if (name === 'allowWatchBookmarks') fields.push('AllowWatchBookmarks: true');
    if (name === 'sendInitialEvents') fields.push('SendInitialEvents: ptr.To(true)');
    if (name === 'resourceVersionMatch') {
      fields.push(`ResourceVersionMatch: metav1.ResourceVersionMatch(${go(value)})`);
    }
  }
  return fields;
}

function commented(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `//   ${line}`)
    .join('\n');
}

/** Go's own quoting agrees with JSON's for what JSON.stringify writes. */
const go = (text: string) => JSON.stringify(text);

function shell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
