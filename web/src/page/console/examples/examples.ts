import type { Draft } from '../draft';
import type { Words } from './example-words';

export interface Example {
  /** Its title and what it shows are in example-words.ts. */
  readonly id: keyof Words['examples'];
  readonly request: Omit<Draft, 'example'>;
}

export interface ExampleGroup {
  readonly id: keyof Words['groups'];
  readonly examples: readonly Example[];
}

interface Extra {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function example(id: Example['id'], line: string, extra: Extra = {}): Example {
  const [method = 'GET', path = '/'] = line.split(' ', 2);
  const { headers = {}, body } = extra;
  return {
    id,
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
    id: 'read',
    examples: [
      example('list-namespaces', 'GET /api/v1/namespaces'),
      example('get-namespace', 'GET /api/v1/namespaces/default'),
      example('table', 'GET /api/v1/namespaces', { headers: TABLE }),
      example('chunks', 'GET /apis/rbac.authorization.k8s.io/v1/clusterroles?limit=3'),
      example('metadata-only', 'GET /apis/rbac.authorization.k8s.io/v1/clusterroles?limit=5', {
        headers: { Accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
      }),
    ],
  },
  {
    id: 'watch',
    examples: [
      example('watch', `GET ${CONFIG_MAPS}?watch=1`),
      example(
        'watch-bookmarks',
        'GET /api/v1/namespaces?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan',
      ),
    ],
  },
  {
    id: 'write',
    examples: [
      example('create', `POST ${CONFIG_MAPS}`, {
        headers: JSON_TYPE,
        body: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'greeting' },
          data: { text: 'hello' },
        },
      }),
      example('dry-run', `POST ${CONFIG_MAPS}?dryRun=All`, {
        headers: JSON_TYPE,
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'never-stored' } },
      }),
      example('merge-patch', `PATCH ${CONFIG_MAPS}/greeting`, {
        headers: { 'Content-Type': 'application/merge-patch+json' },
        body: { data: { text: 'good evening', mood: 'calm' } },
      }),
      example('json-patch', `PATCH ${CONFIG_MAPS}/greeting`, {
        headers: { 'Content-Type': 'application/json-patch+json' },
        body: [
          { op: 'test', path: '/data/text', value: 'good evening' },
          { op: 'replace', path: '/data/text', value: 'good night' },
        ],
      }),
      example('strategic-patch', `PATCH ${DEPLOYMENTS}/web`, {
        headers: { 'Content-Type': 'application/strategic-merge-patch+json' },
        body: {
          spec: {
            template: {
              spec: { containers: [{ name: 'web', env: [{ name: 'A', value: '1' }] }] },
            },
          },
        },
      }),
      example('strict', `POST ${CONFIG_MAPS}?fieldValidation=Strict&dryRun=All`, {
        headers: JSON_TYPE,
        body: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'typo' },
          dta: { text: 'hello' },
        },
      }),
      example('delete', `DELETE ${CONFIG_MAPS}/greeting`),
    ],
  },
  {
    id: 'apply',
    examples: [
      example('apply', `PATCH ${DEPLOYMENTS}/web?fieldManager=alice`, {
        headers: APPLY_TYPE,
        body: applied(2, 'nginx:1.27'),
      }),
      example('apply-conflict', `PATCH ${DEPLOYMENTS}/web?fieldManager=bob`, {
        headers: APPLY_TYPE,
        body: applied(5, 'nginx:1.27'),
      }),
      example('apply-force', `PATCH ${DEPLOYMENTS}/web?fieldManager=bob&force=true`, {
        headers: APPLY_TYPE,
        body: applied(5, 'nginx:1.27'),
      }),
    ],
  },
  {
    id: 'kind',
    examples: [
      example('crd', `POST ${CRDS}`, { headers: YAML_TYPE, body: CRD }),
      example('crd-refused', `POST ${BOATS}`, { headers: YAML_TYPE, body: boat('crowded', 3, 2) }),
      example('crd-create', `POST ${BOATS}`, {
        headers: YAML_TYPE,
        body: boat('kingfisher', 2, 2),
      }),
      example('crd-table', `GET ${BOATS}`, { headers: TABLE }),
    ],
  },
  {
    id: 'look',
    examples: [
      example('discovery', 'GET /apis', {
        headers: {
          Accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
        },
      }),
      example('openapi', 'GET /openapi/v3'),
      example('version', 'GET /version'),
      example('health', 'GET /readyz?verbose'),
      example('can-i', 'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        headers: JSON_TYPE,
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes: { verb: 'delete', resource: 'nodes' } },
        },
      }),
    ],
  },
];

export const EXAMPLES: readonly Example[] = EXAMPLE_GROUPS.flatMap((group) => group.examples);
