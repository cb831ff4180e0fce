import { expect, test } from 'vitest';
import { captureOutput } from '../../src/engine/output';

/** What is kept of these lines. */
function keptOf(lines: readonly string[]) {
  const fs = { writeSync: (_fd: number, _bytes: Uint8Array) => 0 };
  Object.assign(globalThis, { fs });
  const output = captureOutput();
  for (const line of lines) fs.writeSync(2, new TextEncoder().encode(`${line}\n`));
  return { first: output.text().split('\n')[0], text: output.text(), why: output.lastPanic() };
}
const many = (what: string) => Array.from({ length: 1000 }, (_, i) => `${what} ${i}`);

test('the last lines of a log are kept', () => {
  expect(keptOf(many('line'))).toMatchObject({ first: 'line 600', why: '' });
});

test('why a program died is kept, and where, however many goroutines it had', () => {
  const { text, why } = keptOf([
    ...many('line'),
    'fatal error: out of memory',
    'goroutine 1 [running]:',
    ...many('goroutine'),
  ]);
  expect(why).toBe('fatal error: out of memory');
  expect(text).toContain(
    'line 999\nfatal error: out of memory\ngoroutine 1 [running]:\ngoroutine 0',
  );
});
