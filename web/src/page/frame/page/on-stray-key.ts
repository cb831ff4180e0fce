import { paletteOpen } from '../palette/palette';
import { typeStray } from '../stray-keys';

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
  // Those of a key that is held down may be meant for what had the keyboard until now.
  const isEnter = event.key === 'Enter' && !event.repeat;
  const isText = [...event.key].length === 1 && event.key !== ' ';
  if (!isEnter && !isText) return;
  event.preventDefault();
  typeStray(isEnter ? '\r' : event.key);
  place.querySelector<HTMLElement>('textarea')?.focus();
}

function isModal(): boolean {
  return paletteOpen.value || document.querySelector('dialog[open]') !== null;
}
