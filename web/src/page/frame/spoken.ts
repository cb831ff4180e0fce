import { signal } from '@preact/signals';

/** What a screen reader is told of the last thing that was done. */
export const spoken = signal('');
