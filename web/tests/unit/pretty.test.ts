import { expect, test } from 'vitest';
import { blocks } from '../../src/page/editor/fold-lines';
import { prettyJson } from '../../src/page/parts/pretty';

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
  const text = JSON.stringify({ a: [{ x: '}{' }], b: [] }, null, 2);
  expect(text.split('\n')[1]).toBe('  "a": [');
  expect([...blocks(text.split('\n')).values()]).toEqual([
    { first: 3, last: 5, tail: 1 },
    { first: 2, last: 6, tail: 2 },
    { first: 1, last: 8, tail: 1 },
  ]);
});
