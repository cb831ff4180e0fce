import { expect, test } from 'vitest';
import { format, inspect } from '../../src/script/inspect';
import type { OutputLine } from '../../src/script/messages';
import { Output } from '../../src/script/output';
import { lineIn, ownStack, pathOf } from '../../src/script/where';

test('values are printed as one would write them', () => {
  class Boat {
    readonly crew = 2;
  }
  const self: Record<string, unknown> = { name: 'a' };
  self.self = self;
  const cases: [unknown, string][] = [
    ['text', "'text'"],
    ["it's", `"it's"`],
    [[1, 'a', null, undefined, true, 2n], "[ 1, 'a', null, undefined, true, 2n ]"],
    [{ metadata: { name: 'a', 'x-y': [] } }, "{ metadata: { name: 'a', 'x-y': [] } }"],
    [new Map([['a', { n: 1 }]]), "Map(1) { 'a' => { n: 1 } }"],
    [new Set([1]), 'Set(1) { 1 }'],
    [new Boat(), 'Boat { crew: 2 }'],
    [self, "{ name: 'a', self: [Circular] }"],
    [{ a: { b: { c: { d: { e: { f: 1 } } } } } }, '{ a: { b: { c: { d: { e: [Object] } } } } }'],
    [new Uint8Array([1, 2]), 'Uint8Array(2) [ 1, 2 ]'],
    [Object.create(null), '{}'],
    [Symbol('s'), 'Symbol(s)'],
    [inspect, '[Function: inspect]'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
  ];
  for (const [value, text] of cases) expect(inspect(value)).toBe(text);
  expect(inspect(Array.from({ length: 200 }, (_, i) => i))).toContain('... 100 more');
  const long = { kind: 'ConfigMap', metadata: { name: 'a'.repeat(30), namespace: 'b'.repeat(30) } };
  expect(inspect(long)).toBe(
    `{\n  kind: 'ConfigMap',\n  metadata: {\n    name: '${'a'.repeat(30)}',\n    namespace: '${'b'.repeat(30)}'\n  }\n}`,
  );
  const hostile = {
    get x() {
      throw new Error('no');
    },
  };
  expect(inspect(hostile)).toBe('[Error: no]');
  expect(inspect(new TypeError('no'))).toMatch(/^TypeError: no\n {4}at /);
});

test('console.log has its specifiers', () => {
  expect(format(['a', 'b', { n: 1 }])).toBe('a b { n: 1 }');
  expect(format(['%s has %d of %o, 100%%', 'web', '3', [1], 'more'])).toBe(
    'web has 3 of [ 1 ], 100% more',
  );
  expect(format(['%cstyled', 'color: red'])).toBe('styled');
  expect(format(['%s and %s', 'one'])).toBe('one and %s');
  expect(format(['100%s'])).toBe('100%s');
  expect(format([])).toBe('');
});

test('an address of a script is a path of the cluster, wherever the site lies', () => {
  const root = new URL('https://site.example/');
  const folder = new URL('https://site.example/learn/');
  for (const scope of [root, folder]) {
    expect(pathOf('/api/v1/pods?watch=1', scope)).toBe('/api/v1/pods?watch=1');
    expect(pathOf('api/v1/pods?limit=1', scope)).toBe('/api/v1/pods?limit=1');
    expect(pathOf(`${scope}apis`, scope)).toBe('/apis');
    expect(pathOf('https://other.example/api', scope)).toBeNull();
    expect(pathOf('//other.example/api', scope)).toBeNull();
  }
  expect(pathOf('https://site.example/elsewhere', folder)).toBeNull();
  expect(() => pathOf('https://', root)).toThrow(TypeError);
});

test('a stack shows the script by its name, and nothing of what runs it', () => {
  const address = 'blob:https://site.example/1-2';
  const stack = `TypeError: no\n    at f (${address}:7:3)\n    at https://site.example/assets/prelude.js:1:9\n    at ${address}:9:1`;
  expect(ownStack(stack, address, 'mirror.js')).toBe(
    'TypeError: no\n    at f (mirror.js:7:3)\n    at mirror.js:9:1',
  );
  expect(lineIn(stack, address)).toBe(7);
  expect(lineIn('TypeError: no', address)).toBe(0);
  expect(ownStack('a line\nanother', address, 'x')).toBe('a line\nanother');
});

test('a loop that prints for ever sends little, and says what it left out', () => {
  const sent: { lines: readonly OutputLine[]; left: number }[] = [];
  const waiting: (() => void)[] = [];
  const output = new Output(
    (lines, left) => sent.push({ lines, left }),
    (run) => waiting.push(run),
  );
  output.add('log', 'first');
  expect(sent).toHaveLength(1);
  for (let i = 0; i < 1000; i++) output.add('log', `line ${i}`);
  output.add('error', 'x'.repeat(20_000), 3);
  while (waiting.length > 0) waiting.shift()?.();
  const lines = sent.flatMap(({ lines }) => lines);
  const left = sent.reduce((sum, { left }) => sum + left, 0);
  expect(lines.length + left).toBe(1002);
  expect(Math.max(...sent.map(({ lines }) => lines.length))).toBeLessThanOrEqual(200);
  expect(Math.max(...lines.map(({ text }) => text.length))).toBeLessThanOrEqual(10_003);
});
