import { expect, test } from 'vitest';
import { merged } from '../../src/page/files/workspace/merge';

// What is typed in an editor, and what a command has made of the same text.

test.each([
  ['nothing', 'a\n', 'a\n', 'a\n', 'a\n'],
  ['at two places', 'a\nb\n', '# mine\na\nb\n', 'a\nb\ntheirs\n', '# mine\na\nb\ntheirs\n'],
  ['at the end, both', 'a\n', 'a\nmine\n', 'a\ntheirs\n', 'a\nmine\ntheirs\n'],
  ['at an end without a newline', 'a', 'a\nmine', 'a\ntheirs\n', 'a\nmine\ntheirs\n'],
  ['in one line', 'n: 1\nb\n', 'n: 2\nb\n', 'n: 3\nb\n', 'n: 2\nn: 3\nb\n'],
  ['a line that the other removes', 'a\nb\nc\n', 'a\nB\nc\n', 'a\nc\n', 'a\nB\nc\n'],
  ['all of it', 'a\nb\n', '', 'a\nb\nc\n', 'c\n'],
  ['with carriage returns', 'a\r\nb\r\n', 'a\r\nb\r\nc\r\n', 'A\r\nb\r\n', 'A\r\nb\r\nc\r\n'],
])('what both have changed: %s', (_, base, mine, theirs, both) => {
  expect(merged(base, mine, theirs)).toBe(both);
});

test('a text of more lines than there are characters', () => {
  const lines = Array.from({ length: 70_000 }, (_, n) => `${n}\n`);
  const base = lines.join('');
  expect(merged(base, `mine\n${base}`, `${base}theirs\n`)).toBe(`mine\n${base}theirs\n`);
});
