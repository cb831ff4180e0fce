import { piecesOf } from '../../client/pieces';

/**
 * Cuts a stream of JSON objects, which is what a watch is, into the text of each. Objects usually end with a newline but
 * need not (`pretty=true` puts newlines inside them), so braces are counted.
 */
export class JsonFrames {
  #rest = '';
  #at = 0;
  #depth = 0;
  #inString = false;

  /** @returns the objects that are complete now, in order */
  add(text: string): string[] {
    this.#rest += text;
    const frames: string[] = [];
    let start = 0;
    let i = this.#at;
    for (; i < this.#rest.length; i++) {
      const c = this.#rest.charCodeAt(i);
      if (this.#inString) {
        if (c === 92 /* \ */) i++;
        else if (c === 34 /* " */) this.#inString = false;
      } else if (c === 34) {
        this.#inString = true;
      } else if (c === 123 /* { */) {
        this.#depth++;
      } else if (c === 125 /* } */ && --this.#depth === 0) {
        frames.push(this.#rest.slice(start, i + 1).trim());
        start = i + 1;
      }
    }
    this.#rest = this.#rest.slice(start);
    // Past the end after a backslash that was the last character: what it escapes is skipped with the next piece.
    this.#at = i - start;
    return frames;
  }

  /** What is left when the stream ends: empty after a clean end. */
  get rest(): string {
    return this.#rest.trim();
  }
}

/**
 * The objects of a watch's body, each as it arrives, until it ends or is aborted. A reader that stops early closes the
 * watch.
 *
 * @throws whatever the body breaks with
 */
export async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const frames = new JsonFrames();
  const decoder = new TextDecoder();
  for await (const piece of piecesOf(body)) {
    yield* frames.add(decoder.decode(piece, { stream: true }));
  }
}
