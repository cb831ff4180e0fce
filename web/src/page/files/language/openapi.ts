import { askAsAdmin } from '../../engine/ask';
import { KindSchema, type Schema } from './schema';

interface OpenApi {
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

const documents = new Map<string, Promise<OpenApi>>();

/**
 * The schema of a kind from the cluster's own OpenAPI v3, one group version at a time. The index names each document
 * with a hash: a document is fetched again only when it has changed, for example by a new CustomResourceDefinition.
 *
 * @returns null when the cluster has no such kind
 */
export async function schemaOf(apiVersion: string, kind: string): Promise<KindSchema | null> {
  const slash = apiVersion.indexOf('/');
  const [group, version] =
    slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  const url = (await index()).get(group ? `apis/${apiVersion}` : `api/${apiVersion}`);
  if (!url) return null;
  let document = documents.get(url);
  if (!document) {
    document = fetchJson<OpenApi>(url);
    documents.set(url, document);
    document.catch(() => documents.delete(url));
  }
  const schemas = (await document).components?.schemas ?? {};
  const root = Object.values(schemas).find((schema) =>
    schema['x-kubernetes-group-version-kind']?.some(
      (gvk) => gvk.group === group && gvk.version === version && gvk.kind === kind,
    ),
  );
  return root ? new KindSchema(root, schemas) : null;
}

let cached: { readonly at: number; readonly paths: Promise<ReadonlyMap<string, string>> } | null =
  null;
const FRESH = 3000;

function index(): Promise<ReadonlyMap<string, string>> {
  if (!cached || Date.now() - cached.at > FRESH) {
    const paths = fetchJson<{
      readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
    }>('/openapi/v3').then(
      (found) =>
        new Map(
          Object.entries(found.paths).map(([path, { serverRelativeURL }]) => [
            path,
            serverRelativeURL,
          ]),
        ),
    );
    cached = { at: Date.now(), paths };
    paths.catch(() => {
      cached = null;
    });
  }
  return cached.paths;
}

async function fetchJson<T>(path: string): Promise<T> {
  const response = await askAsAdmin('editor', path, { headers: [['Accept', 'application/json']] });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()) as T;
}
