import { signal } from '@preact/signals';
import { arrange, layout, maximised } from './layout';

export const paletteOpen = signal(false);

/** Keys that work everywhere. What a part of the page handles itself it keeps by `preventDefault`. */
export function onShortcut(event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  const command = event.ctrlKey || event.metaKey;
  if (command && !event.shiftKey && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    // What is typed next is meant for the palette, even if that is still being loaded.
    if (!paletteOpen.value) (document.activeElement as HTMLElement | null)?.blur();
    paletteOpen.value = !paletteOpen.value;
  } else if (command && event.key.toLowerCase() === 'j') {
    event.preventDefault();
    arrange({ drawerOpen: !layout.value.drawerOpen });
  } else if (event.key === 'Escape' && maximised.value && !paletteOpen.value) {
    maximised.value = null;
  }
}
