import { signal } from '@preact/signals';
import { place, SHARED } from '../frame/route';

/** Whether what can be shared is shown. */
export const sharing = signal(false);
/** What a link with files has brought, as it stands in the address; null without such a link. */
export const receiving = signal<string | null>(null);

export function openShare(): void {
  sharing.value = true;
}

/** Looks at the address of this visit, and at each that follows. To be called once. */
export function followSharedLinks(): void {
  const look = () => {
    if (location.hash.startsWith(SHARED)) receiving.value = location.hash.slice(SHARED.length);
  };
  addEventListener('hashchange', look);
  look();
}

/** Takes what was shared out of the address: a reload, or who is given the address, shall not be asked again. */
export function forgetShared(): void {
  if (location.hash.startsWith(SHARED)) history.replaceState(history.state, '', place());
}
