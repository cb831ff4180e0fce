import { getEventListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import type { Kubetab } from '../../src/embed/client';
import { endShell, inTurn, shellOf, until } from '../../src/embed/shells';
import { eventually } from './eventually';

function engine() {
  const ended = vi.fn(async () => undefined);
  const kubetab = { session: () => ({ end: ended }) } as unknown as Kubetab;
  return { kubetab, ended };
}

const never = new AbortController().signal;

/** Something to do that ends when it is told. */
function work(done: string[], name: string) {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const run = async () => {
    done.push(`${name} begins`);
    await over;
    done.push(`${name} ends`);
  };
  return { run, end };
}

test('a name has one shell, until it ends or the engine is another', () => {
  const { kubetab, ended } = engine();
  const first = shellOf(kubetab, 'a');
  expect(shellOf(kubetab, 'a')).toBe(first);
  expect(shellOf(kubetab, 'b')).not.toBe(first);
  endShell('a');
  expect(ended).toHaveBeenCalledTimes(1);
  const second = shellOf(kubetab, 'a');
  expect(second).not.toBe(first);
  expect(shellOf(engine().kubetab, 'a')).not.toBe(second);
  endShell('nobody');
});

test('a shell is for one at a time, in the order of asking', async () => {
  const shell = shellOf(engine().kubetab, 'a');
  const done: string[] = [];
  const [one, two, three] = ['one', 'two', 'three'].map((name) => work(done, name)) as [
    ReturnType<typeof work>,
    ReturnType<typeof work>,
    ReturnType<typeof work>,
  ];
  const gaveUp = new AbortController();
  const all = [
    inTurn(shell, never, one.run),
    inTurn(shell, gaveUp.signal, two.run).catch((error) => done.push(error)),
    inTurn(shell, never, three.run),
  ];
  expect(shell.busy).toBe(3);
  // Who gives up lets nobody past the first.
  gaveUp.abort('two gave up');
  await all[1];
  expect(done).toEqual(['one begins', 'two gave up']);
  three.end();
  one.end();
  await Promise.all(all);
  expect(done).toEqual(['one begins', 'two gave up', 'one ends', 'three begins', 'three ends']);
  expect(shell.busy).toBe(0);
});

test('what fails leaves its turn', async () => {
  const shell = shellOf(engine().kubetab, 'a');
  await expect(inTurn(shell, never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await inTurn(shell, never, async () => 'next')).toBe('next');
});

test('what was waited for leaves nothing with the signal', async () => {
  const { signal } = new AbortController();
  expect(await until(Promise.resolve('done'), signal)).toBe('done');
  await expect(until(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  await eventually(() => getEventListeners(signal, 'abort').length === 0);
  await expect(until(new Promise(() => {}), AbortSignal.abort('before'))).rejects.toBe('before');
});
