import { go } from '../../frame/route';
import { words } from '../../words';
import { decline, enterLesson, FIRST_LESSON } from '../course/home';

/** What a first visit is offered, and may pass by. */
export function Offer() {
  const { offer } = words;
  return (
    <section class="offer" aria-label={offer.title}>
      <h2>{offer.title}</h2>
      <p>{offer.text}</p>
      <p class="offer-buttons">
        <button type="button" class="button primary" onClick={() => enterLesson(FIRST_LESSON)}>
          {offer.begin}
        </button>
        <button type="button" class="button" onClick={() => go('lessons')}>
          {offer.all}
        </button>
        <button type="button" class="button quiet" onClick={decline}>
          {offer.decline}
        </button>
      </p>
    </section>
  );
}
