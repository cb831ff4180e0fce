import { expect, test } from 'vitest';
import { parseFile } from '../../src/page/files/language/documents';
import { KindSchema, type Schema } from '../../src/page/files/language/schema';
import { validate } from '../../src/page/files/language/validate';

const SCHEMAS: Readonly<Record<string, Schema>> = {
  Thing: {
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      spec: { allOf: [{ $ref: '#/components/schemas/Spec' }], description: 'of the place' },
    },
  },
  Spec: {
    type: 'object',
    description: 'of the type',
    properties: {
      count: { type: 'integer', minimum: 1 },
      name: { type: 'string' },
      port: { format: 'int-or-string' },
      mode: { type: 'string', enum: ['a', 'b'] },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      list: { type: 'array', items: { $ref: '#/components/schemas/Spec' } },
      any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  },
};
const kind = new KindSchema(SCHEMAS.Thing as Schema, SCHEMAS);

async function findings(spec: string): Promise<string[]> {
  const text = `kind: Thing\nspec:\n${spec.replace(/^/gm, '  ')}\n`;
  const document = (await parseFile(text)).documents[0];
  if (!document) throw new Error('no document');
  return (await validate(document, kind)).map(
    ({ from, to, message }) => `${text.slice(from, to).trim()}: ${message}`,
  );
}

test('what fits the schema has no finding', async () => {
  const spec = `count: 2
name: x
port: "80"
mode: a
labels: {a: b}
list: [{count: 1, port: 80}]
any: {x: [1]}`;
  expect(await findings(spec)).toEqual([]);
  expect(await findings('count:')).toEqual([]);
});

test.each([
  ['cuont: 1', 'cuont: There is no field "cuont" here. Did you mean "count"?'],
  ['zebra: 1', 'zebra: There is no field "zebra" here.'],
  ['count: two', 'two: This must be: integer.'],
  ['count: 0', '0: This must be at least 1.'],
  ['name: 1', '1: This must be a string. Put it in quotes: "1"'],
  ['mode: c', 'c: This must be one of: a, b.'],
  ['labels: {a: 1}', '1: This must be a string. Put it in quotes: "1"'],
  ['list:\n- count: x', 'x: This must be: integer.'],
  ['list: {}', 'list: This must be: list of object.'],
  ['name: [a]', 'name: This must be: string.'],
])('%s', async (spec, finding) => {
  expect(await findings(spec)).toEqual([finding]);
});

test('a description of the place outranks that of the type', () => {
  expect(kind.at(['spec'])?.description).toBe('of the place');
  expect(kind.at(['spec', 'list', 0, 'list', 0, 'count'])?.type).toBe('integer');
  expect(kind.at(['spec', 'nothing'])).toBeUndefined();
});
