import { expect, test } from 'vitest';
import { CreditWindow } from '../../src/client/credit';

test('small reads are answered together, at a quarter of the window', () => {
  const window = new CreditWindow(1000);
  window.arrived(1000);
  expect(window.taken(100)).toBe(0);
  expect(window.taken(100)).toBe(0);
  expect(window.taken(50)).toBe(250);
  expect(window.taken(0)).toBe(0);
});

test('the producer can never have more than the window under way or waiting', () => {
  const window = new CreditWindow(1000);
  let granted = 1000;
  let waiting = 0;
  // A fixed but irregular mix of arrivals and reads.
  for (let step = 1; step < 5000; step++) {
    const arrive = Math.min((step * 7919) % 400, granted);
    window.arrived(arrive);
    granted -= arrive;
    waiting += arrive;
    const read = Math.min((step * 104729) % 400, waiting);
    waiting -= read;
    granted += window.taken(read);
    expect(granted + waiting).toBeLessThanOrEqual(1000);
  }
});

test('a reader that takes everything always gets credit: nothing can stall', () => {
  const window = new CreditWindow(1000);
  for (let round = 0; round < 100; round++) {
    window.arrived(1000);
    expect(window.taken(1000)).toBe(1000);
  }
});
