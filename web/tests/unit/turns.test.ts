import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Turn, Turns } from '../../src/engine/turns';

// What Turns schedules for after the messages of others is not one of the timers that are faked.
const afterOthers = () => new Promise((done) => setImmediate(done));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Takes turns for requests 0, 1, 2, ..., and tells which have begun. */
function ask(turns: Turns, count: number): { begun: number[]; all: Turn[] } {
  const begun: number[] = [];
  const all = Array.from({ length: count }, (_, i) => ({ begin: () => void begun.push(i) }));
  for (const turn of all) turns.take(turn);
  return { begun, all };
}

test('eight begin at once, and the next when one has been answered', async () => {
  const turns = new Turns();
  const { begun, all } = ask(turns, 20);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  turns.giveBack(all[3] as Turn);
  turns.giveBack(all[3] as Turn);
  // Go may be running.
  expect(begun).toHaveLength(8);
  await afterOthers();
  expect(begun.slice(8)).toEqual([8]);
  turns.giveBack(all[0] as Turn);
  turns.giveBack(all[1] as Turn);
  await afterOthers();
  expect(begun.slice(9)).toEqual([9, 10]);
});

test('those that are answered at once let others do something between them', async () => {
  const turns = new Turns();
  const { all } = ask(turns, 8);
  let begun = 0;
  for (let i = 0; i < 100; i++) {
    const turn: Turn = {
      begin() {
        begun++;
        turns.giveBack(turn); // as Go does, from within
      },
    };
    turns.take(turn);
  }
  const seen: number[] = [];
  for (const turn of all) turns.giveBack(turn);
  while (begun < 100) {
    await afterOthers();
    seen.push(begun);
  }
  const steps = seen.map((now, i) => now - (seen[i - 1] ?? 0));
  expect(Math.max(...steps), seen.join()).toBeLessThanOrEqual(8);
});

test('those that are answered while they begin leave their turns to others', async () => {
  const turns = new Turns();
  for (let i = 0; i < 8; i++) {
    const turn: Turn = { begin: () => turns.giveBack(turn) };
    turns.take(turn);
  }
  expect(ask(turns, 8).begun).toHaveLength(8);
});

test('one that comes later does not begin sooner', async () => {
  const turns = new Turns();
  const { begun, all } = ask(turns, 9);
  turns.giveBack(all[0] as Turn);
  turns.take({ begin: () => void begun.push(99) });
  await afterOthers();
  turns.giveBack(all[1] as Turn);
  await afterOthers();
  expect(begun.slice(8)).toEqual([8, 99]);
});

test('one that no longer waits never begins', async () => {
  const turns = new Turns();
  const { begun, all } = ask(turns, 10);
  turns.giveBack(all[8] as Turn);
  turns.giveBack(all[0] as Turn);
  await afterOthers();
  expect(begun.slice(8)).toEqual([9]);
});

test('those without an answer lose their turns after half a second', () => {
  const turns = new Turns();
  const { begun, all } = ask(turns, 30);
  vi.advanceTimersByTime(499);
  expect(begun).toHaveLength(8);
  vi.advanceTimersByTime(1);
  expect(begun).toHaveLength(16);
  vi.advanceTimersByTime(500);
  expect(begun).toHaveLength(24);
  vi.advanceTimersByTime(500);
  expect(begun).toEqual(Array.from({ length: 30 }, (_, i) => i));
  for (const turn of all) turns.giveBack(turn);
  expect(ask(turns, 8).begun).toHaveLength(8);
  expect(vi.getTimerCount()).toBe(0);
});
