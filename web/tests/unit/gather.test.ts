import { expect, test } from 'vitest';
import { Gather } from '../../src/engine/gather';

const of = (...values: number[]) => new Uint8Array(values);

test('the first chunk of a turn goes at once, the rest of the turn together', async () => {
  const sent: number[][] = [];
  const gather = new Gather((bytes) => sent.push([...bytes]));
  gather.add(of(1));
  gather.add(of(2));
  gather.add(of(3));
  expect(sent).toEqual([[1]]);
  await Promise.resolve();
  expect(sent).toEqual([[1], [2, 3]]);
  gather.add(of(4));
  expect(sent).toEqual([[1], [2, 3], [4]]);
});

test('a long turn is cut at the limit', () => {
  const sent: number[] = [];
  const gather = new Gather((bytes) => sent.push(bytes.byteLength), 10);
  for (let i = 0; i < 5; i++) gather.add(new Uint8Array(6));
  expect(sent).toEqual([6, 12, 12]);
});

test('a view is copied, so that its neighbours are not transferred away', () => {
  const all = of(1, 2, 3, 4);
  let sent = all;
  new Gather((bytes) => {
    sent = bytes;
  }).add(all.subarray(1, 3));
  expect([...sent]).toEqual([2, 3]);
  expect(sent.buffer.byteLength).toBe(2);
});
