import type { Draft } from './draft';

export interface Example {
  readonly id: string;
  readonly title: string;
  /** What it shows, in one or two sentences. */
  readonly about: string;
  readonly request: Omit<Draft, 'example'>;
}

export interface ExampleGroup {
  readonly title: string;
  readonly examples: readonly Example[];
}

interface Extra {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function example(
  id: string,
  title: string,
  about: string,
  line: string,
  extra: Extra = {},
): Example {
  const [method = 'GET', path = '/'] = line.split(' ', 2);
  const { headers = {}, body } = extra;
  return {
    id,
    title,
    about,
    request: {
      method,
      path,
      headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
      body:
        body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body, null, 2),
    },
  };
}

const JSON_TYPE = { 'Content-Type': 'application/json' };
const YAML_TYPE = { 'Content-Type': 'application/yaml' };
const APPLY_TYPE = { 'Content-Type': 'application/apply-patch+yaml' };
const TABLE = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const BOATS = '/apis/harbour.example.com/v1/namespaces/default/boats';

const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: boats.harbour.example.com
spec:
  group: harbour.example.com
  scope: Namespaced
  names:
    plural: boats
    singular: boat
    kind: Boat
  versions:
    - name: v1
      served: true
      storage: true
      additionalPrinterColumns:
        - name: Crew
          type: integer
          jsonPath: .spec.crew
        - name: Berths
          type: integer
          jsonPath: .spec.berths
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [crew, berths]
              properties:
                crew:
                  type: integer
                berths:
                  type: integer
              x-kubernetes-validations:
                - rule: self.crew <= self.berths
                  message: everybody needs a berth
`;

const boat = (name: string, crew: number, berths: number) => `apiVersion: harbour.example.com/v1
kind: Boat
metadata:
  name: ${name}
spec:
  crew: ${crew}
  berths: ${berths}
`;

const applied = (replicas: number, image: string) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: ${replicas}
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: web
          image: ${image}
`;

/** In the order of a first hour with the API. Those of a group build on each other from top to bottom. */
export const EXAMPLE_GROUPS: readonly ExampleGroup[] = [
  {
    title: 'Read',
    examples: [
      example(
        'list-namespaces',
        'List namespaces',
        'Every kind of object has a collection. Any script of this page gets the same answer: try fetch("/api/v1/namespaces") in the console of your browser.',
        'GET /api/v1/namespaces',
      ),
      example(
        'get-namespace',
        'Get one object',
        'An object is its collection plus its name.',
        'GET /api/v1/namespaces/default',
      ),
      example(
        'table',
        'List as a table',
        'The server itself makes the columns that kubectl get prints: ask for them with the Accept header.',
        'GET /api/v1/namespaces',
        { headers: TABLE },
      ),
      example(
        'chunks',
        'List in chunks',
        'With limit the server gives a few items and a continue token for the rest, all as of the same moment.',
        'GET /apis/rbac.authorization.k8s.io/v1/clusterroles?limit=3',
      ),
      example(
        'metadata-only',
        'Metadata only',
        'PartialObjectMetadata leaves out spec and status. Controllers that need only labels and owners ask like this.',
        'GET /apis/rbac.authorization.k8s.io/v1/clusterroles?limit=5',
        { headers: { Accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' } },
      ),
    ],
  },
  {
    title: 'Watch',
    examples: [
      example(
        'watch',
        'Watch ConfigMaps',
        'The answer never ends: one event per change, the existing objects first. Open this page in a second tab and change something there.',
        `GET ${CONFIG_MAPS}?watch=1`,
      ),
      example(
        'watch-bookmarks',
        'Streaming list',
        'A list as a watch: the existing objects arrive as events, a bookmark marks where the list ends, then changes follow.',
        'GET /api/v1/namespaces?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan',
      ),
    ],
  },
  {
    title: 'Write',
    examples: [
      example(
        'create',
        'Create a ConfigMap',
        'POST to the collection. The server adds a uid, a resourceVersion, a creation time and managedFields.',
        `POST ${CONFIG_MAPS}`,
        {
          headers: JSON_TYPE,
          body: {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: 'greeting' },
            data: { text: 'hello' },
          },
        },
      ),
      example(
        'dry-run',
        'Dry run',
        'dryRun=All goes the whole way through defaults, admission and validation, and stores nothing.',
        `POST ${CONFIG_MAPS}?dryRun=All`,
        {
          headers: JSON_TYPE,
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'never-stored' } },
        },
      ),
      example(
        'merge-patch',
        'Merge patch',
        'Sends only what changes; null removes a key. Lists are replaced as a whole.',
        `PATCH ${CONFIG_MAPS}/greeting`,
        {
          headers: { 'Content-Type': 'application/merge-patch+json' },
          body: { data: { text: 'good evening', mood: 'calm' } },
        },
      ),
      example(
        'json-patch',
        'JSON patch',
        'A list of operations. The test makes it fail when somebody else was quicker.',
        `PATCH ${CONFIG_MAPS}/greeting`,
        {
          headers: { 'Content-Type': 'application/json-patch+json' },
          body: [
            { op: 'test', path: '/data/text', value: 'good evening' },
            { op: 'replace', path: '/data/text', value: 'good night' },
          ],
        },
      ),
      example(
        'strategic-patch',
        'Strategic merge',
        'Knows the type: containers are merged by name instead of replaced. Run "Apply a Deployment" first.',
        `PATCH ${DEPLOYMENTS}/web`,
        {
          headers: { 'Content-Type': 'application/strategic-merge-patch+json' },
          body: {
            spec: {
              template: {
                spec: { containers: [{ name: 'web', env: [{ name: 'A', value: '1' }] }] },
              },
            },
          },
        },
      ),
      example(
        'strict',
        'An unknown field',
        'fieldValidation=Strict refuses what would otherwise be dropped with a warning.',
        `POST ${CONFIG_MAPS}?fieldValidation=Strict&dryRun=All`,
        {
          headers: JSON_TYPE,
          body: {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: 'typo' },
            dta: { text: 'hello' },
          },
        },
      ),
      example(
        'delete',
        'Delete',
        'The answer is a Status, or the object while finalizers hold it.',
        `DELETE ${CONFIG_MAPS}/greeting`,
      ),
    ],
  },
  {
    title: 'Server-side apply',
    examples: [
      example(
        'apply',
        'Apply a Deployment',
        'You send the fields you care about, and the server remembers that they are yours: see managedFields in the answer.',
        `PATCH ${DEPLOYMENTS}/web?fieldManager=alice`,
        { headers: APPLY_TYPE, body: applied(2, 'nginx:1.27') },
      ),
      example(
        'apply-conflict',
        'A conflict',
        'bob wants other replicas than alice. The server answers 409 and names the owner instead of letting the last one win.',
        `PATCH ${DEPLOYMENTS}/web?fieldManager=bob`,
        { headers: APPLY_TYPE, body: applied(5, 'nginx:1.27') },
      ),
      example(
        'apply-force',
        'Take it over',
        'force=true makes bob the owner of what was in conflict. alice is told the next time she applies.',
        `PATCH ${DEPLOYMENTS}/web?fieldManager=bob&force=true`,
        { headers: APPLY_TYPE, body: applied(5, 'nginx:1.27') },
      ),
    ],
  },
  {
    title: 'Your own kind',
    examples: [
      example(
        'crd',
        'Define Boat, with a rule',
        'A CustomResourceDefinition adds a kind to the API. Its CEL rule is checked by the server on every write.',
        `POST ${CRDS}`,
        { headers: YAML_TYPE, body: CRD },
      ),
      example(
        'crd-refused',
        'Break the rule',
        'Three people, two berths: 422, with the message of the rule.',
        `POST ${BOATS}`,
        { headers: YAML_TYPE, body: boat('crowded', 3, 2) },
      ),
      example('crd-create', 'Keep the rule', 'Two people, two berths: created.', `POST ${BOATS}`, {
        headers: YAML_TYPE,
        body: boat('kingfisher', 2, 2),
      }),
      example(
        'crd-table',
        'List boats as a table',
        'The columns are those the definition asked for.',
        `GET ${BOATS}`,
        { headers: TABLE },
      ),
    ],
  },
  {
    title: 'Look around',
    examples: [
      example(
        'discovery',
        'Discovery',
        'Every group, version and resource in one answer: what kubectl api-resources prints.',
        'GET /apis',
        {
          headers: {
            Accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
          },
        },
      ),
      example(
        'openapi',
        'OpenAPI',
        'One document per group and version. The first request for a document makes it, which takes a moment.',
        'GET /openapi/v3',
      ),
      example('version', 'Version', 'Which server this is.', 'GET /version'),
      example(
        'health',
        'Health',
        'Every check by name. Leave some out with exclude.',
        'GET /readyz?verbose',
      ),
      example(
        'can-i',
        'May I?',
        'A review is created, answered in its status, and not stored. This is kubectl auth can-i.',
        'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        {
          headers: JSON_TYPE,
          body: {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SelfSubjectAccessReview',
            spec: { resourceAttributes: { verb: 'delete', resource: 'nodes' } },
          },
        },
      ),
    ],
  },
];

export const EXAMPLES: readonly Example[] = EXAMPLE_GROUPS.flatMap((group) => group.examples);
