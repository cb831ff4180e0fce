import { askAsAdmin } from '../engine/ask';
import { go } from '../frame/route';
import type { Lesson } from './course';
import { PATH, tryAgain } from './follow';
import { pathOf } from './place';
import { note } from './progress';
import { words } from './words';

/** Empties the lesson's cluster and begins the lesson anew, once the learner agrees. */
export async function resetLesson(lesson: Lesson): Promise<void> {
  if (!confirm(words.bar.resetAsk)) return;
  note(lesson.id, { begun: false, checks: [], guesses: {}, shown: {}, step: '' });
  go('lessons', pathOf(lesson.id, 1));
  const answer = await askAsAdmin('lesson', PATH, { method: 'DELETE' });
  await answer.body?.cancel();
  tryAgain();
}
