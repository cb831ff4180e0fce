import { signal } from '@preact/signals';

/** The namespace that tables and the picture show; empty for all of them. */
export const namespace = signal('');
