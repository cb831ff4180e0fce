import { arrange, maximised } from './layout';
import { go } from './route';

/** Brings the editor to sight: beside a lesson it stands where the picture may be, and on a phone it is a screen of its own. */
export function showEditor(): void {
  arrange({ stage: 'files' });
  if (maximised.value !== 'editor') maximised.value = null;
  if (matchMedia('(max-width: 720px)').matches) go('files');
}
