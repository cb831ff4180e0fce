import { signal } from '@preact/signals';

let ticking: ReturnType<typeof setInterval> | undefined;

/** The time, once a second while the page is seen and shows an age: ages tick together. */
export const now = signal(Date.now(), {
  watched() {
    now.value = Date.now();
    ticking = setInterval(() => {
      if (!document.hidden) now.value = Date.now();
    }, 1000);
  },
  unwatched() {
    clearInterval(ticking);
  },
});
