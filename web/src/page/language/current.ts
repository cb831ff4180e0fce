import { signal } from '@preact/signals';

/** The languages that the page speaks, by their own names. */
export const LANGUAGES = { en: 'English', zh: '简体中文' } as const;
export type Language = keyof typeof LANGUAGES;

/** The one that is shown. `language.ts` sets it. */
export const language = signal<Language>('en');
