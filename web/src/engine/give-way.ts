import { soon } from '../../../wasm/boundary/timers.mjs';

/** What is worked on at once: two milliseconds of compression. */
const PIECE_BYTES = 64 << 10;

/** How many times as long as the work on a piece its thread is then left to others, while there are any. */
const REST = 3;

/**
 * Passes bytes on piece by piece, so that their thread can do something else in between. To compress what is kept of the
 * module takes the service worker seven seconds, and each request of the page goes through it a few times.
 *
 * @param isBusy whether others need the thread now: it is theirs for most of the time then
 */
export function givingWay(
  isBusy: () => boolean,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  return new TransformStream({
    async transform(chunk, controller) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        const began = performance.now();
        controller.enqueue(chunk.subarray(at, at + PIECE_BYTES));
        // What takes the piece has worked on it when this goes on.
        await new Promise<void>(soon);
        if (!isBusy()) continue;
        const took = performance.now() - began;
        await new Promise((resolve) => setTimeout(resolve, REST * took));
      }
    },
  });
}
