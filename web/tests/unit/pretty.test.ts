import { expect, test } from 'vitest';
import { prettyJson } from '../../src/page/console/pretty';
import { foldable } from '../../src/page/editor/fold-lines';

test('lays out as JSON.stringify does', () => {
  const values = [
    {},
    [],
    { a: [], b: {}, c: [1, -2.5e3, true, null, 'x'] },
    { nested: { deep: [{ 'k "q"': 'a\\b\n{}[],:' }] } },
    'just a string',
    12,
  ];
  for (const value of values) {
    expect(prettyJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
    expect(prettyJson(JSON.stringify(value, null, 4))).toBe(JSON.stringify(value, null, 2));
  }
});

test('keeps numbers that JavaScript cannot hold, and keys that come twice', () => {
  expect(prettyJson('{"n":9223372036854775807,"n":1.0}')).toBe(
    '{\n  "n": 9223372036854775807,\n  "n": 1.0\n}',
  );
});

test('leaves alone what is not JSON', () => {
  for (const text of ['{"a":1', '{"a"]', '"open', 'a}']) expect(prettyJson(text)).toBe(text);
});

test('finds the blocks to fold', () => {
  const text = JSON.stringify(
    { a: { managedFields: [{ x: [1] }], b: 1 }, managedFields: [2] },
    null,
    2,
  );
  expect(foldable(text.split('\n'), /"managedFields": \[$/, 10)).toEqual([
    { first: 3, last: 9, tail: 2 },
    { first: 12, last: 14, tail: 1 },
  ]);
  expect(foldable(text.split('\n'), /"managedFields": \[$/, 1)).toHaveLength(1);
});
