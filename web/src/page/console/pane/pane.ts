import { signal } from '@preact/signals';
import { send } from '../run';

/** Which of its panes the console shows on a phone; wider screens show them all. */
export type Pane = 'side' | 'request' | 'response';
export const pane = signal<Pane>('response');

/** Sends, and on a phone shows where the answer will appear. */
export function sendNow(): void {
  pane.value = 'response';
  void send();
}
