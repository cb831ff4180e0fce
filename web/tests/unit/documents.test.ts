import { describe, expect, test } from 'vitest';
import { withoutFields, withValuesOf } from '../../src/page/files/apply/resolve-conflict';
import { parseFile, rangeOf, resolve, stepsOf } from '../../src/page/files/language/documents';

const DEPLOYMENT = `# what it is for
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3 # by hand
  template:
    spec:
      containers:
        - name: sidecar
          image: b:1
        - name: nginx
          image: nginx:1.27
`;
const TWO = `${DEPLOYMENT}---
apiVersion: v1
kind: Service
metadata:
  name: web
`;

test('a file is read document by document, each with its place', async () => {
  const { documents } = await parseFile(TWO);
  expect(documents.map(({ object }) => object?.kind)).toEqual(['Deployment', 'Service']);
  expect(TWO.slice(documents[1]?.from, documents[1]?.to)).toContain('kind: Service');
  const broken = await parseFile('a: [1\n---\nkind: B\n');
  expect(broken.documents[0]?.errors.length).toBeGreaterThan(0);
  expect((await parseFile('')).documents.filter(({ object }) => object)).toEqual([]);
  expect((await parseFile('just words')).documents[0]?.object).toBe(null);
});

test.each([
  ['spec.replicas', ['spec', 'replicas']],
  ['.spec.containers[0].image', ['spec', 'containers', 0, 'image']],
  [
    '.spec.template.spec.containers[name="nginx"].image',
    ['spec', 'template', 'spec', 'containers', { name: 'nginx' }, 'image'],
  ],
  [
    '.spec.ports[port=80,protocol="TCP"].name',
    ['spec', 'ports', { port: 80, protocol: 'TCP' }, 'name'],
  ],
  ['metadata.labels[app.kubernetes.io/name]', ['metadata', 'labels', 'app.kubernetes.io/name']],
])('the field %s', (field, steps) => {
  expect(stepsOf(field)).toEqual(steps);
});

describe('a field the server names', () => {
  test.each([
    ['spec.replicas', 'replicas'],
    ['spec.template.spec.containers[1].image', 'image'],
    ['.spec.template.spec.containers[name="nginx"].image', 'image'],
    // What is not in the file is shown at what would hold it.
    ['spec.selector', 'spec'],
  ])('%s stands at its key', async (field, key) => {
    const { documents } = await parseFile(DEPLOYMENT);
    const document = documents[0];
    if (!document) throw new Error('no document');
    const { from, to } = rangeOf(document, field);
    expect(DEPLOYMENT.slice(from, to)).toBe(key);
  });

  test('of the second item is not that of the first', async () => {
    const { documents } = await parseFile(DEPLOYMENT);
    expect(
      resolve(documents[0]?.object, stepsOf('.spec.template.spec.containers[name="nginx"].image')),
    ).toEqual(['spec', 'template', 'spec', 'containers', 1, 'image']);
  });
});

describe('a conflict', () => {
  const conflicts = [{ field: '.spec.replicas', owner: 'someone' }];

  test('is left: the field goes, comments and the other document stay', async () => {
    const { documents } = await parseFile(TWO);
    const document = documents[0];
    if (!document) throw new Error('no document');
    const text = await withoutFields(TWO, document, conflicts);
    expect(text).not.toContain('replicas');
    expect(text).toContain('# what it is for');
    expect(text).toContain('kind: Service');
    expect((await parseFile(text)).documents.map(({ object }) => object?.kind)).toEqual([
      'Deployment',
      'Service',
    ]);
  });

  test('is agreed on: the value of the cluster comes into the file', async () => {
    const { documents } = await parseFile(DEPLOYMENT);
    const document = documents[0];
    if (!document) throw new Error('no document');
    const live = { metadata: {}, spec: { replicas: 7 } };
    const text = await withValuesOf(DEPLOYMENT, document, conflicts, live);
    expect(text).toContain('replicas: 7');
    expect(text).toContain('image: nginx:1.27');
  });
});
