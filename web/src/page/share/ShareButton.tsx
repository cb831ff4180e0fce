import { Icon } from '../frame/icons';
import { words } from '../words';
import { openShare } from './open';

export function ShareButton() {
  return (
    <button
      type="button"
      class="icon-button share-button"
      aria-label={words.share.open}
      title={words.share.open}
      onClick={openShare}
    >
      <Icon name="share" />
    </button>
  );
}
