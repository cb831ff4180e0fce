import { go, route } from './route';

/** Brings the terminal to sight and the keyboard to it; on a phone it is a screen of its own. */
export function focusTerminal(): void {
  const { view, path } = route.value;
  const isWide = view === 'console' || view === 'settings' || (view === 'lessons' && path === '');
  if (isWide) go('cluster');
  if (matchMedia('(max-width: 720px)').matches) go('terminal');
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('.terminal-place textarea')?.focus(),
  );
}
