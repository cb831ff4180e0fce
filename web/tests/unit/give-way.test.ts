import { expect, test, vi } from 'vitest';
import { givingWay } from '../../src/engine/give-way';

const BYTES = new Uint8Array(1_000_000).map((_, i) => i % 251);
const afterOthers = () => new Promise((done) => setImmediate(done));

/** What comes of BYTES, which arrive in two chunks. */
function through(isBusy: () => boolean): ReadableStreamDefaultReader<Uint8Array> {
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(BYTES.subarray(0, 700_000));
      controller.enqueue(BYTES.subarray(700_000));
      controller.close();
    },
  });
  return source.pipeThrough(givingWay(isBusy)).getReader();
}

test('the pieces are the whole, and others have their turn between them', async () => {
  let turns = 0;
  let ends = false;
  const count = () => {
    turns++;
    if (!ends) setImmediate(count);
  };
  count();
  const reader = through(() => false);
  const seen: number[] = [];
  const all: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    expect(value.length).toBeLessThanOrEqual(1 << 16);
    seen.push(turns);
    all.push(value);
  }
  ends = true;
  expect(Buffer.concat(all).equals(BYTES)).toBe(true);
  expect(seen).toHaveLength(16);
  expect(new Set(seen).size).toBe(seen.length);
});

test('while others are busy, the next piece comes when they have had more time than the last one took', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  try {
    const reader = through(() => true);
    await reader.read();
    vi.advanceTimersByTime(10); // of work
    let isNext = false;
    void reader.read().then(() => {
      isNext = true;
    });
    await afterOthers();
    await afterOthers();
    vi.advanceTimersByTime(29);
    await afterOthers();
    expect(isNext).toBe(false);
    vi.advanceTimersByTime(1);
    await afterOthers();
    expect(isNext).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});
