import { paletteOpen } from '../palette/palette';
import { typeStray } from '../stray-keys';

/** Those of a line that are no text. As long as the terminal is being loaded it cannot have the keyboard itself. */
const KEYS: Readonly<Record<string, string>> = { Enter: '\r', Backspace: '\x7f' };

/**
 * Keys that nothing on the page has are the terminal's, if it is in sight: who has just arrived types without pointing at
 * it first. Those that move in a page or choose from it stay the browser's.
 */
export function onStrayKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.target !== document.body || isModal()) return;
  const writes = event.getModifierState('AltGraph');
  if ((event.ctrlKey || event.altKey || event.metaKey) && !writes) return;
  const place = document.querySelector('.terminal-place');
  if (!place || place.getClientRects().length === 0) return;
  // An Enter that is held down may be meant for what had the keyboard until now.
  if (event.key === 'Enter' && event.repeat) return;
  const keys = KEYS[event.key] ?? event.key;
  if ([...keys].length !== 1) return;
  event.preventDefault();
  typeStray(keys);
  place.querySelector<HTMLElement>('textarea')?.focus();
}

function isModal(): boolean {
  return paletteOpen.value || document.querySelector('dialog[open]') !== null;
}
