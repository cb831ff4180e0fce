import { effect } from '@preact/signals';
import { clusterHere, setTitle } from '../../engine/here';
import { route } from '../../frame/route';
import { language } from '../../language/current';
import { once } from '../../parts/once';
import { shellHeld } from '../../terminal/held';
import { followLesson } from './follow';
import { inLesson, isHere, lessonHere } from './home';
import { course, entries, lessonOf, loadCourse, loadLesson } from './load';
import { lessonPlace } from './place';
import { note, openProgress, progressOf } from './progress';
import { followLines } from './seen';

/**
 * Begins to keep progress, and to follow the lesson that this tab is in, whatever view is shown: a check turns green in
 * the console, too. May be called often.
 */
export const openLessons = once(() => {
  openProgress();
  followLines();
  // A tab may come into a lesson's cluster by the list of clusters.
  if (inLesson) {
    effect(() => {
      if (lessonHere.value) return;
      loadCourse();
      lessonHere.value = entries().find(({ id }) => isHere(id))?.id ?? '';
      if (!lessonHere.value && course.value.state !== 'loading') shellHeld.value = false;
    });
  }
  let followed = '';
  let stop = () => {};
  // By itself, because one that could not be loaded is not asked for again until the learner wants it.
  effect(() => {
    if (lessonHere.value) void loadLesson(lessonHere.value, language.value);
  });
  effect(() => {
    const id = lessonHere.value;
    const loaded = id ? lessonOf(id) : null;
    const lesson = loaded?.state === 'loaded' ? loaded.value : null;
    if (loaded?.state === 'failed') shellHeld.value = false;
    if (!lesson || followed === lesson.id) {
      if (!id) end();
      return;
    }
    end();
    followed = lesson.id;
    setTitle(clusterHere, lesson.title);
    stop = followLesson(lesson);
  });
  function end() {
    stop();
    stop = () => {};
    followed = '';
  }
  // Where the learner is, for the next visit.
  effect(() => {
    const { view, path } = route.value;
    const place = view === 'lessons' ? lessonPlace(path) : null;
    if (!place?.step || place.id !== lessonHere.value) return;
    const loaded = lessonOf(place.id);
    if (loaded.state !== 'loaded') return;
    const step = loaded.value.steps[place.step - 1];
    const kept = progressOf(place.id);
    if (step && (kept.step !== step.id || kept.steps !== loaded.value.steps.length)) {
      note(place.id, { step: step.id, steps: loaded.value.steps.length });
    }
  });
});
