import type { Lesson } from '../../../answers/lessons';
import { notice } from '../../engine/cluster';
import { clusterHere, isEmbedded } from '../../engine/here';
import { go } from '../../frame/route';
import { words } from '../words';
import { pathOf } from './place';
import { note } from './progress';

/** Empties the lesson's cluster and begins the lesson anew, once the learner agrees. */
export async function resetLesson(lesson: Lesson): Promise<void> {
  // A frame may not be allowed to ask, and an embed keeps nothing anyway.
  if (!isEmbedded && !confirm(words.bar.resetAsk)) return;
  note(lesson.id, { begun: false, checks: [], told: [], guesses: {}, shown: {}, step: '' });
  go('lessons', pathOf(lesson.id, 1));
  try {
    const { reset } = await import('../../control/clusters/clusters');
    await reset(clusterHere);
  } catch (error) {
    notice.value = { text: () => (error instanceof Error ? error.message : String(error)) };
  }
}
