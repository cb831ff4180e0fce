import { expect, test } from 'vitest';
import { together } from '../../src/engine/download';

test('a download is not there as long as a part of it has not begun', () => {
  const told: number[][] = [];
  const [ofModule, ofSnapshot] = together([{ url: 'm', bytes: 100, br: 20 }, null], (...now) =>
    told.push(now),
  );
  ofSnapshot?.(40, 40, 10);
  ofModule?.(50, 100, 30);
  ofModule?.(100, 100, 30);
  expect(told).toEqual([
    [40, 140, 30],
    [90, 140, 40],
    [140, 140, 40],
  ]);
});

test('what is not fetched is not waited for', () => {
  const told: number[][] = [];
  const [ofModule] = together([{ url: 'm', bytes: 100 }, null], (...now) => told.push(now));
  ofModule?.(100, 100, 100);
  expect(told).toEqual([[100, 100, 100]]);
});
