import { expect, test } from 'vitest';
import { ReadingLine } from '../../src/page/terminal/reading-line';

const PROMPT = '\x1b[0m\x1b[?25h\x1b[1;34m~\x1b[0m $ ';
const entered = (line: string) => `\r\n\x1b]7373;history;${btoa(line)}\x07`;

test('a line is read from its prompt until it is entered, and again when its command has ended', () => {
  const shell = new ReadingLine();
  expect(shell.isReading).toBe(false);
  shell.add(PROMPT);
  expect(shell.isReading).toBe(true);
  shell.add('kubectl get pods -w');
  expect(shell.isReading).toBe(true);
  expect(shell.add(entered('kubectl get pods -w'))).toBe(1);
  expect(shell.isReading).toBe(false);
  shell.add('NAME   READY\r\nweb    1/1\r\n');
  expect(shell.isReading).toBe(false);
  shell.add(`^C\r\n${PROMPT}`);
  expect(shell.isReading).toBe(true);
});

test('a command that prints nothing ends at once', () => {
  const shell = new ReadingLine();
  expect(shell.add(`${PROMPT}true${entered('true')}${PROMPT}`)).toBe(1);
  expect(shell.isReading).toBe(true);
});

test('output may be cut anywhere', () => {
  const text = `${PROMPT}a${entered('a')}out\r\n${PROMPT}b${entered('b')}`;
  const shell = new ReadingLine();
  let count = 0;
  for (const letter of text) count += shell.add(letter);
  expect(count).toBe(2);
  expect(shell.isReading).toBe(false);
  for (const letter of PROMPT) shell.add(letter);
  expect(shell.isReading).toBe(true);
});

test('a line that goes on is still being read by nobody who could run another', () => {
  const shell = new ReadingLine();
  shell.add(`${PROMPT}cat <<EOF\r\n> `);
  expect(shell.isReading).toBe(false);
});
