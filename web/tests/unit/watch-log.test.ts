import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WatchLog, type WatchView } from '../../src/page/console/watch-log';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const event = (type: string, name: string) =>
  JSON.stringify({ type, object: { kind: 'Pod', metadata: { name, namespace: 'default' } } });

test('the first event is shown at once, a burst in steps', () => {
  const shown: WatchView[] = [];
  const log = new WatchLog((view) => shown.push(view), 50);
  log.add(event('ADDED', 'a'));
  expect(shown).toHaveLength(1);
  for (let i = 0; i < 1000; i++) log.add(event('MODIFIED', 'a'));
  expect(shown).toHaveLength(1);
  vi.advanceTimersByTime(50);
  expect(shown).toHaveLength(2);
  expect(shown[1]).toMatchObject({ total: 1001, counts: { ADDED: 1, MODIFIED: 1000 } });
  vi.advanceTimersByTime(500);
  expect(shown).toHaveLength(2);
  log.add(event('DELETED', 'a'));
  expect(shown).toHaveLength(3);
  expect(shown[2]?.events[0]).toMatchObject({ type: 'DELETED', name: 'a', namespace: 'default' });
});

test('closing shows what was held back', () => {
  const shown: WatchView[] = [];
  const log = new WatchLog((view) => shown.push(view), 50);
  log.add(event('ADDED', 'a'));
  log.add(event('ADDED', 'b'));
  log.close();
  expect(shown.at(-1)?.events.map(({ name }) => name)).toEqual(['b', 'a']);
});

test('only the newest thousand are kept, and all are counted', () => {
  let last: WatchView | null = null;
  const log = new WatchLog((view) => {
    last = view;
  });
  for (let i = 1; i <= 5000; i++) log.add(event('ADDED', `p${i}`));
  log.close();
  expect(last).toMatchObject({ total: 5000, counts: { ADDED: 5000 } });
  const { events } = last as unknown as WatchView;
  expect(events).toHaveLength(1000);
  expect(events[0]?.name).toBe('p5000');
});

test('an event that is not JSON is shown as it came', () => {
  let last: WatchView | null = null;
  new WatchLog((view) => {
    last = view;
  }).add('{oops}');
  expect(last).toMatchObject({ events: [{ type: 'UNREADABLE', text: '{oops}' }] });
});

test('a watch of tables names the object of the row', () => {
  let last: WatchView | null = null;
  const object = { kind: 'PartialObjectMetadata', metadata: { name: 'a', resourceVersion: '7' } };
  new WatchLog((view) => {
    last = view;
  }).add(JSON.stringify({ type: 'ADDED', object: { kind: 'Table', rows: [{ object }] } }));
  expect(last).toMatchObject({ events: [{ type: 'ADDED', name: 'a', resourceVersion: '7' }] });
});
