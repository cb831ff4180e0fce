import { computed, signal } from '@preact/signals';
import { go, route } from '../frame/route';
import { lessonPlace, pathOf } from './place';

/** What the course begins with. */
export const FIRST_LESSON = 'first/request';

const KEY = 'kubetab.lesson-here';
const OFFER = 'kubetab.lessons.offer';

/**
 * The lesson that this tab is in, whatever view is shown: its checks are looked at until the tab leaves it. Empty for
 * none.
 */
export const lessonHere = signal(lessonPlace(route.value.path)?.id ?? recall());
lessonHere.subscribe((id) => {
  try {
    if (id) sessionStorage.setItem(KEY, id);
    else sessionStorage.removeItem(KEY);
  } catch {
    // A reload of another view than the lesson forgets it, then.
  }
});

function recall(): string {
  try {
    return lessonPlace(`/${sessionStorage.getItem(KEY)}`)?.id ?? '';
  } catch {
    return '';
  }
}

const declined = signal(wasDeclined());

/** A first visit is offered the first lesson: until it is declined, or any lesson was begun. */
export const isOffered = computed(() => !declined.value && !lessonHere.value);

export function decline(): void {
  declined.value = true;
  try {
    localStorage.setItem(OFFER, 'declined');
  } catch {
    // Offered again on the next visit, then.
  }
}

function wasDeclined(): boolean {
  try {
    return localStorage.getItem(OFFER) !== null;
  } catch {
    return true; // closed to this window: what is declined could not be remembered
  }
}

/** Goes to a lesson, into the cluster that belongs to it. */
export function enterLesson(id: string, step?: number): void {
  decline();
  go('lessons', pathOf(id, step));
}

/** Back to the lesson that the tab is in, or to the map. */
export function goToLessons(): void {
  const isThere = route.value.view === 'lessons';
  go('lessons', !isThere && lessonHere.value ? pathOf(lessonHere.value) : '');
}

/** Goes back to the visitor's own cluster. */
export function leaveLesson(): void {
  lessonHere.value = '';
  go('cluster');
}
