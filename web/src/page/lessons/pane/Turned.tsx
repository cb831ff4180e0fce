import { turned } from '../course/follow';

/** Says what has turned green, without a look at it. */
export function Turned() {
  return (
    <p class="unseen" role="status">
      {turned.value}
    </p>
  );
}
