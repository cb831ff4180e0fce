import { expect, test } from 'vitest';
import { JsonFrames } from '../../src/page/console/frames';

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
