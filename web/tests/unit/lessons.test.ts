import { describe, expect, test } from 'vitest';
import type { Record as RequestRecord } from '../../src/answers/requestlog';
import { exchangesOf, requestOf } from '../../src/page/lessons/course/exchange';
import { lessonPlace, pathOf } from '../../src/page/lessons/course/place';
import { isDone, NOTHING, readProgress } from '../../src/page/lessons/course/progress';
import { whole } from '../../src/page/parts/whole';

describe('addresses', () => {
  test('name a lesson, and a step of it', () => {
    expect(lessonPlace('/read/watch/3')).toEqual({ id: 'read/watch', step: 3 });
    expect(lessonPlace('/read/list-versions')).toEqual({ id: 'read/list-versions', step: null });
    expect(lessonPlace(pathOf('first/request', 2))).toEqual({ id: 'first/request', step: 2 });
    expect(lessonPlace(pathOf('first/request'))).toEqual({ id: 'first/request', step: null });
  });

  test('that name no step lead to where the learner was', () => {
    for (const step of ['0', '-1', '1.5', 'last', '1e3', '9999', '']) {
      expect(lessonPlace(`/read/watch/${step}`)).toEqual({ id: 'read/watch', step: null });
    }
  });

  test.each(['', '/', '/read', '/read/', '/Read/Watch', '/../watch', '/read/%2e%2e', '/a b/c'])(
    'that name no lesson are the map: %s',
    (path) => expect(lessonPlace(path)).toBeNull(),
  );
});

describe('kept progress', () => {
  const kept = {
    ...NOTHING,
    begun: true,
    step: 'again',
    checks: ['listed', 'Other-1'],
    told: [
      {
        id: 'run',
        done: true,
        checks: [
          { id: 'listed', done: true, seen: 'GET /api', at: '2026-01-01T00:00:00Z' },
          { id: 'Other-1', done: true, request: { path: '/api' } },
          { id: 'calm', done: false, failed: true },
        ],
      },
    ],
    done: ['run'],
    steps: 4,
    guesses: { create: 2 },
    shown: { create: 1 },
    at: 1_700_000_000_000,
  };

  test('is read as it was written', () => {
    expect(readProgress(JSON.stringify(kept))).toEqual(kept);
  });

  test('has nothing in it but what belongs there', () => {
    expect(readProgress(JSON.stringify({ ...kept, more: 1 }))).toEqual(kept);
  });

  test.each([
    ['an earlier build that did not keep it', undefined],
    ['another type', 'run'],
    ['steps that are none', [1, null, { id: '<img src=x>' }, [], { done: true }]],
  ])('has no word of an engine that is %s', (_, told) => {
    expect(readProgress(JSON.stringify({ ...kept, told }))).toEqual({ ...kept, told: [] });
  });

  test('has only what an engine can take of its word', () => {
    const checks = [{ id: 'listed', done: 1, seen: {}, at: 7, request: 'x', more: 1 }, { id: '' }];
    const told = [{ id: 'run', done: 'yes', checks, hints: ['h'] }, { id: 'again' }];
    expect(readProgress(JSON.stringify({ ...kept, told }))?.told).toEqual([
      { id: 'run', done: false, checks: [{ id: 'listed', done: false }] },
      { id: 'again', done: false, checks: [] },
    ]);
  });

  test.each([
    ['torn', JSON.stringify(kept).slice(0, -9)],
    ['empty', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['a step of another type', JSON.stringify({ ...kept, step: 7 })],
    ['a step with markup', JSON.stringify({ ...kept, step: '<img src=x>' })],
    ['checks that are no list', JSON.stringify({ ...kept, checks: 'listed' })],
    ['a check that is no id', JSON.stringify({ ...kept, checks: [{ id: 'listed' }] })],
    ['more checks than a lesson has', JSON.stringify({ ...kept, checks: Array(201).fill('a') })],
    ['steps below zero', JSON.stringify({ ...kept, steps: -1 })],
    ['steps without an end', '{"begun":true,"step":"","checks":[],"done":[],"steps":1e999}'],
    ['a guess that is no number', JSON.stringify({ ...kept, guesses: { create: '2' } })],
    ['a time that is none', JSON.stringify({ ...kept, at: null })],
    ['too much', JSON.stringify({ ...kept, filler: 'x'.repeat(60_000) })],
  ])('is refused when it is %s', (_, text) => expect(readProgress(text)).toBeNull());

  test('is that of a lesson that is done when each step was', () => {
    expect(isDone(NOTHING)).toBe(false);
    expect(isDone({ ...kept, done: ['run', 'again', 'create'] })).toBe(false);
    expect(isDone({ ...kept, done: ['run', 'again', 'create', 'challenge'] })).toBe(true);
  });
});

describe('the requests of a command', () => {
  const record = (id: number, begin: number, more: Partial<RequestRecord> = {}): RequestRecord => ({
    id,
    begin,
    from: 'kubectl',
    method: 'GET',
    path: '/api/v1/namespaces',
    ms: 1,
    ...more,
  });
  const ids = (records: readonly RequestRecord[]) => records.map(({ id }) => id);

  test('are those between its line and the next', () => {
    const lines = [
      { line: 'kubectl get namespaces', at: 1000 },
      { line: 'kubectl get pods', at: 5000 },
    ];
    const all = [
      record(1, 500),
      record(2, 990), // the message with the line came a moment later
      record(3, 2000),
      record(4, 5100),
      record(5, 2000, { internal: true }),
      record(6, 2000, { from: 'view' }),
      record(7, 2000, { from: 'console' }),
    ];
    expect(ids(exchangesOf('kubectl get  namespaces\n', 'sh', all, lines))).toEqual([2, 3]);
    expect(ids(exchangesOf('kubectl get pods', 'sh', all, lines))).toEqual([4]);
    expect(exchangesOf('kubectl get services', 'sh', all, lines)).toEqual([]);
  });

  test('are those of a script, too, when it runs one', () => {
    const lines = [
      { line: 'kill $!; node watch.js &', at: 1000 },
      { line: 'kubectl get pods', at: 5000 },
      { line: 'node list.js', at: 9000 },
    ];
    const all = [
      record(1, 1100, { from: 'script' }),
      record(2, 5100),
      record(3, 5200, { from: 'script' }), // of the one in the background
      record(4, 9100, { from: 'script' }),
    ];
    expect(ids(exchangesOf('kill $!; node watch.js &', 'sh', all, lines))).toEqual([1]);
    expect(ids(exchangesOf('kubectl get pods', 'sh', all, lines))).toEqual([2]);
    expect(ids(exchangesOf('node list.js', 'sh', all, lines))).toEqual([4]);
    const nodes = [{ line: 'kubectl get node a', at: 5000 }];
    expect(ids(exchangesOf('kubectl get node a', 'sh', all, nodes))).toEqual([2]);
  });

  test('are those of the last time that it ran', () => {
    const lines = [
      { line: 'kubectl get ns', at: 1000 },
      { line: 'kubectl get ns', at: 5000 },
    ];
    const all = [record(1, 1100), record(2, 5100)];
    expect(ids(exchangesOf('kubectl get ns', 'sh', all, lines))).toEqual([2]);
  });

  test('written as a request are those with its method and path', () => {
    const all = [
      record(1, 1, { from: 'console' }),
      record(2, 2, { from: 'console', method: 'POST' }),
      record(3, 3, { from: 'view' }),
    ];
    expect(ids(exchangesOf('GET /api/v1/namespaces', 'http', all, []))).toEqual([1]);
    all.push(record(4, 4, { from: 'script' }));
    expect(ids(exchangesOf('GET /api/v1/namespaces', 'http', all, []))).toEqual([4]);
  });
});

test('a request is written as method and path, headers, an empty line and a body', () => {
  expect(
    requestOf('patch /api/v1/nodes/a\nContent-Type: application/json\nX: a:b\n\n{"a":\n\n1}\n'),
  ).toEqual({
    method: 'PATCH',
    path: '/api/v1/nodes/a',
    headers: [
      { name: 'Content-Type', value: 'application/json' },
      { name: 'X', value: 'a:b' },
    ],
    body: '{"a":\n\n1}',
  });
  expect(requestOf('GET /healthz')).toEqual({
    method: 'GET',
    path: '/healthz',
    headers: [],
    body: '',
  });
});

test('a word of code keeps its hyphens and slashes in one line, unless it is long', () => {
  const pieces = (code: string) =>
    whole(code).map((piece) => (typeof piece === 'string' ? piece : ['whole', piece]));
  const kept = (text: string) => [
    'whole',
    expect.objectContaining({ props: { class: 'whole', children: text } }),
  ];
  expect(pieces('kubectl apply --server-side')).toEqual([
    'kubectl',
    ' ',
    'apply',
    ' ',
    kept('--server-side'),
  ]);
  const long = 'kubectl.kubernetes.io/last-applied-configuration';
  expect(pieces(long)).toEqual([long]);
});
