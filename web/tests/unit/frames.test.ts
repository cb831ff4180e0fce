import { expect, test } from 'vitest';
import { framesOf, JsonFrames } from '../../src/page/engine/frames';

const events = [
  '{"type":"ADDED","object":{"a":"} \\" {"}}',
  '{"type":"MODIFIED",\n "object":{"b":"\\\\"}}',
  '{"type":"DELETED","object":{}}',
];

test('objects come out whole wherever the stream was cut', () => {
  const stream = `${events.join('\n')}\n`;
  for (let size = 1; size < stream.length; size++) {
    const frames = new JsonFrames();
    const got: string[] = [];
    for (let at = 0; at < stream.length; at += size)
      got.push(...frames.add(stream.slice(at, at + size)));
    expect(got, `pieces of ${size}`).toEqual(events);
    expect(frames.rest).toBe('');
  }
});

test('what was cut off stays visible', () => {
  const frames = new JsonFrames();
  expect(frames.add('{"type":"ADDED"}{"type":')).toEqual(['{"type":"ADDED"}']);
  expect(frames.rest).toBe('{"type":');
});

/** A body that gives its bytes one by one, and says when nobody wants more. */
function body(text: string): { stream: ReadableStream<Uint8Array>; closed: () => boolean } {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  let closed = false;
  const stream = new ReadableStream<Uint8Array>({
    pull(to) {
      if (at === bytes.length) to.close();
      else to.enqueue(bytes.subarray(at, ++at));
    },
    cancel() {
      closed = true;
    },
  });
  return { stream, closed: () => closed };
}

test('a character that is cut in two is one character', async () => {
  const got: string[] = [];
  for await (const frame of framesOf(body('{"a":"节点"}{"b":1}').stream)) got.push(frame);
  expect(got).toEqual(['{"a":"节点"}', '{"b":1}']);
});

test('who stops reading closes the watch', async () => {
  const { stream, closed } = body(events.join('\n'));
  for await (const frame of framesOf(stream)) {
    expect(frame).toBe(events[0]);
    break;
  }
  expect(closed()).toBe(true);
});

test('a body that breaks says so after what has arrived', async () => {
  const stream = new ReadableStream<Uint8Array>({
    start(to) {
      to.enqueue(new TextEncoder().encode('{"a":1}{"b"'));
    },
    pull(to) {
      to.error(new Error('the line is gone'));
    },
  });
  const got: string[] = [];
  const read = async () => {
    for await (const frame of framesOf(stream)) got.push(frame);
  };
  await expect(read()).rejects.toThrow('the line is gone');
  expect(got).toEqual(['{"a":1}']);
});
