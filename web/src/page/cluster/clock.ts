import { signal } from '@preact/signals';

/** The time, once a second while the page is seen: ages tick together. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);
