import { signal } from '@preact/signals';
import { arrange, layout, maximised } from '../layout';

export const paletteOpen = signal(false);

/** What had the keyboard before the palette took it. */
let before: HTMLElement | null = null;

export function openPalette(): void {
  before = document.activeElement as HTMLElement | null;
  // What is typed next is meant for the palette, even if that is still being loaded.
  before?.blur();
  paletteOpen.value = true;
}

/** Gives the keyboard back to what had it, or to the view that something was opened in. */
export function closePalette(to: 'back' | 'view'): void {
  if (!paletteOpen.value) return;
  paletteOpen.value = false;
  // As long as it is modal, nothing else takes the focus.
  document.querySelector<HTMLDialogElement>('dialog.palette')?.close();
  const next = to === 'back' ? before : document.getElementById('view');
  before = null;
  next?.focus();
}

/** Keys that work everywhere. What a part of the page handles itself it keeps by `preventDefault`. */
export function onShortcut(event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  const command = event.ctrlKey || event.metaKey;
  if (command && !event.shiftKey && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    if (paletteOpen.value) closePalette('back');
    else openPalette();
  } else if (command && event.key.toLowerCase() === 'j') {
    event.preventDefault();
    arrange({ drawerOpen: !layout.value.drawerOpen });
  } else if (event.key === 'Escape' && maximised.value && !paletteOpen.value) {
    maximised.value = null;
  }
}
