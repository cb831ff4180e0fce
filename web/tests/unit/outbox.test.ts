import { expect, test } from 'vitest';
import { Outbox } from '../../src/engine/outbox';
import type { Answers, FromExchange } from '../../src/protocol';

function setUp() {
  let now = 0;
  const posted: (readonly FromExchange[])[] = [];
  const transferred: Transferable[] = [];
  const outbox = new Outbox(
    {
      postMessage: ({ answers }: Answers, transfer: Transferable[]) => {
        posted.push(answers);
        transferred.push(...transfer);
      },
    } as Pick<MessagePort, 'postMessage'>,
    () => now,
  );
  const said = () => posted.flat();
  return { outbox, posted, transferred, said, pass: (ms: number) => (now += ms) };
}

const chunk = (id: number, size = 1): FromExchange => ({
  type: 'chunk',
  id,
  bytes: new Uint8Array(size),
});
const turnEnds = () => new Promise((resolve) => setImmediate(resolve));

test('a piece alone goes at once', () => {
  const { outbox, said } = setUp();
  outbox.post(chunk(1));
  expect(said()).toEqual([chunk(1)]);
});

test('the pieces of one turn are few messages, in their order', async () => {
  const { outbox, posted, said } = setUp();
  const all = Array.from({ length: 200 }, (_, id) => chunk(id));
  for (const piece of all) outbox.post(piece);
  outbox.post({ type: 'end', id: 199 });
  expect(posted.length).toBeLessThan(6);
  await turnEnds();
  expect(posted.length).toBeLessThan(7);
  expect(said()).toEqual([...all, { type: 'end', id: 199 }]);
  posted.length = 0;
  outbox.post(chunk(1));
  expect(said()).toEqual([chunk(1)]);
});

test('an answer does not wait for what others are told', () => {
  const { outbox, said } = setUp();
  for (let id = 0; id < 100; id++) outbox.post(chunk(id));
  const whole: FromExchange = {
    type: 'whole',
    id: 500,
    status: 200,
    headers: [],
    bytes: new Uint8Array(),
  };
  outbox.post(whole);
  expect(said()).toContainEqual(whole);
  expect(said().length).toBeLessThan(100);
});

test('what waits does not wait for the end of a long turn', () => {
  const { outbox, said, pass } = setUp();
  for (let id = 0; id < 100; id++) outbox.post(chunk(id));
  const before = said().length;
  expect(before).toBeLessThan(100);
  pass(20);
  outbox.post(chunk(100));
  expect(said().length).toBe(101);
});

test('a large piece is handed over, a small one copied', () => {
  const { outbox, transferred } = setUp();
  const [small, large] = [chunk(1, 100), chunk(2, 100_000)];
  outbox.post(small);
  outbox.post(large);
  expect(transferred).toEqual(large.type === 'chunk' ? [large.bytes.buffer] : []);
});
