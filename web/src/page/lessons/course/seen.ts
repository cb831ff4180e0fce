import { signal } from '@preact/signals';
import type { Record as RequestRecord } from '../../../answers/requestlog';
import { records } from '../../requests/log';
import { type Entered, entered } from '../../terminal/shell';
import { exchangesOf } from './exchange';

const KEEP = 100;

const lines = signal<readonly Entered[]>([]);

/** To be called once. */
export function followLines(): void {
  entered.subscribe((line) => {
    if (line) lines.value = [...lines.peek(), line].slice(-KEEP);
  });
}

/** What the log holds of a block of the lesson's text. */
export function seenOf(text: string, language: string): readonly RequestRecord[] {
  return exchangesOf(text, language, records.value, lines.value);
}
