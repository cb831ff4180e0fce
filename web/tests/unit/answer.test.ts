import { expect, test } from 'vitest';
import { Answer } from '../../src/engine/answer';
import type { FromExchange } from '../../src/protocol';

const of = (...values: number[]) => new Uint8Array(values);

function collect(limit?: number) {
  const sent: FromExchange[] = [];
  return { sent, answer: new Answer(7, { post: (message) => void sent.push(message) }, limit) };
}

test('what is complete in one turn is one message', async () => {
  const { sent, answer } = collect();
  answer.head(200, [['a', '1']]);
  answer.chunk(of(1));
  answer.chunk(of(2, 3));
  answer.end();
  await Promise.resolve();
  expect(sent).toEqual([
    { type: 'whole', id: 7, status: 200, headers: [['a', '1']], bytes: of(1, 2, 3) },
  ]);
});

test('an answer without a body is one message, too', () => {
  const { sent, answer } = collect();
  answer.head(204, []);
  answer.end();
  expect(sent).toEqual([{ type: 'whole', id: 7, status: 204, headers: [], bytes: of() }]);
});

test('the head goes when the turn ends, with what there is of the body', async () => {
  const { sent, answer } = collect();
  answer.head(200, []);
  expect(sent).toEqual([]);
  await Promise.resolve();
  expect(sent).toEqual([{ type: 'head', id: 7, status: 200, headers: [] }]);

  const other = collect();
  other.answer.head(200, []);
  other.answer.chunk(of(1));
  await Promise.resolve();
  other.answer.end();
  expect(other.sent.map(({ type }) => type)).toEqual(['head', 'chunk', 'end']);
});

test('the first chunk of a later turn goes at once, the rest of the turn together', async () => {
  const { sent, answer } = collect();
  answer.head(200, []);
  await Promise.resolve();
  sent.length = 0;
  answer.chunk(of(1));
  answer.chunk(of(2));
  answer.chunk(of(3));
  expect(sent).toEqual([{ type: 'chunk', id: 7, bytes: of(1) }]);
  await Promise.resolve();
  expect(sent.slice(1)).toEqual([{ type: 'chunk', id: 7, bytes: of(2, 3) }]);
  answer.chunk(of(4));
  expect(sent.slice(2)).toEqual([{ type: 'chunk', id: 7, bytes: of(4) }]);
});

test('a long turn is cut at the limit, and its head goes first', () => {
  const { sent, answer } = collect(10);
  answer.head(200, []);
  for (let i = 0; i < 4; i++) answer.chunk(new Uint8Array(6));
  expect(sent.map((m) => (m.type === 'chunk' ? m.bytes.byteLength : m.type))).toEqual([
    'head',
    12,
    12,
  ]);
  answer.end();
  expect(sent.at(-1)).toEqual({ type: 'end', id: 7 });
});

test('a failure comes after what was gathered', () => {
  const { sent, answer } = collect();
  answer.head(200, []);
  answer.chunk(of(1));
  answer.fail('it broke');
  expect(sent.map(({ type }) => type)).toEqual(['head', 'chunk', 'failed']);
});

test('a view is copied, so that its neighbours are not transferred away', () => {
  const { sent, answer } = collect();
  const all = of(1, 2, 3, 4);
  answer.chunk(all.subarray(1, 3));
  const [message] = sent;
  expect(message).toEqual({ type: 'chunk', id: 7, bytes: of(2, 3) });
  expect(message?.type === 'chunk' && message.bytes.buffer.byteLength).toBe(2);
});
