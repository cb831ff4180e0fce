import { signal } from '@preact/signals';
import { nameHere } from '../engine/name-here';
import { siteStorage } from '../engine/storage';

export type Theme = 'system' | 'light' | 'dark';

const KEY = nameHere('kubetab.theme');
const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };

export const theme = signal<Theme>(chosen());

/** public/early.js sets the attribute before the first paint; from then on it is ours. */
export function nextTheme(): void {
  theme.value = NEXT[theme.value];
  const { dataset } = document.documentElement;
  if (theme.value === 'system') delete dataset.theme;
  else dataset.theme = theme.value;
  siteStorage.keepText(KEY, theme.value);
}

function chosen(): Theme {
  const { theme: set } = document.documentElement.dataset;
  return set === 'light' || set === 'dark' ? set : 'system';
}
