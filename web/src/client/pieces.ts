/**
 * The pieces of a body as they arrive; WebKit has no ReadableStream that can be iterated. A reader that stops early
 * cancels the body.
 *
 * @param body null, as that of an answer without one, has no pieces
 * @throws whatever the body breaks with
 */
export async function* piecesOf<T>(body: ReadableStream<T> | null): AsyncGenerator<T> {
  if (!body) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined); // it has ended, or has broken
  }
}
