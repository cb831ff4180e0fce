import { expect, test } from 'vitest';
import { piecesOf } from '../../src/client/pieces';

test('a body gives its pieces, and then breaks as it does', async () => {
  const seen: number[] = [];
  let rest = 3;
  const body = new ReadableStream<number>({
    pull(controller) {
      if (rest === 0) controller.error(new Error('the line is cut'));
      else controller.enqueue(rest--);
    },
  });
  const reading = (async () => {
    for await (const piece of piecesOf(body)) seen.push(piece);
  })();
  await expect(reading).rejects.toThrow('the line is cut');
  expect(seen).toEqual([3, 2, 1]);
});

test('who stops reading cancels the body, and an answer without a body has no pieces', async () => {
  let isCancelled = false;
  const body = new ReadableStream<number>({
    pull: (controller) => controller.enqueue(1),
    cancel: () => {
      isCancelled = true;
    },
  });
  for await (const piece of piecesOf(body)) if (piece === 1) break;
  expect(isCancelled).toBe(true);
  for await (const piece of piecesOf<number>(null)) throw new Error(`${piece}`);
});
