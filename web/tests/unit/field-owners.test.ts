import { expect, test } from 'vitest';
import { ownersByLine } from '../../src/page/cluster/objects/field-owners';

const TEXT = `metadata:
  labels:
    app: web
  name: web
spec:
  replicas: 5
  template:
    spec:
      containers:
      - name: a
        image: a:1
      - name: b
        image: b:1
  finalizers:
  - x/y
`;

test('each line is of the manager whose fields name it', async () => {
  const notes = await ownersByLine(TEXT, [
    {
      manager: 'editor',
      fieldsV1: {
        'f:metadata': { 'f:labels': { 'f:app': {} } },
        'f:spec': {
          'f:template': {
            'f:spec': { 'f:containers': { 'k:{"name":"b"}': { '.': {}, 'f:image': {} } } },
          },
          'f:finalizers': { 'v:"x/y"': {} },
        },
      },
    },
    { manager: 'hpa', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    { manager: 'other', fieldsV1: { 'f:metadata': { 'f:labels': { 'f:app': {} } } } },
  ]);
  const lines = TEXT.split('\n');
  const said = [...notes].map(([line, { text }]) => `${lines[line - 1]?.trim()} <- ${text}`);
  expect(said.sort()).toEqual([
    '- name: b <- editor',
    '- x/y <- editor',
    'app: web <- editor, other',
    'image: b:1 <- editor',
    'replicas: 5 <- hpa /scale',
  ]);
});
