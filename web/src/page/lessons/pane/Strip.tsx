import './lesson-strip.css';
import { useLayoutEffect } from 'preact/hooks';
import { Icon } from '../../frame/icons';
import { state } from '../course/follow';
import { goToLessons, leaveLesson, lessonHere } from '../course/home';
import { course, lessonOf } from '../course/load';
import { openLessons } from '../course/open';
import { progressOf } from '../course/progress';
import { words } from '../words';
import { Turned } from './Turned';

/** The lesson that the tab is in, while another view is shown: what its step asks for, and the way back. */
export function Strip() {
  useLayoutEffect(openLessons, []);
  if (!lessonHere.value && course.value.state === 'loaded') return <Orphan />;
  const loaded = lessonOf(lessonHere.value);
  if (loaded.state !== 'loaded') return null;
  const lesson = loaded.value;
  const kept = progressOf(lesson.id);
  const step = lesson.steps.find(({ id }) => id === kept.step) ?? lesson.steps[0];
  if (!step) return null;
  const now = state.value?.steps.find(({ id }) => id === step.id);
  const done = step.checks.filter(({ id }) =>
    now ? now.checks.find((check) => check.id === id)?.done : kept.checks.includes(id),
  ).length;
  const isDone = done === step.checks.length;
  return (
    <section class="lesson-strip" aria-label={words.strip.label}>
      <button type="button" class="link" onClick={goToLessons}>
        <Icon name="lessons" size={15} /> {words.strip.back}
      </button>
      <span class="strip-step">{step.title}</span>
      <span class={`strip-checks ${isDone ? 'is-done' : ''}`}>
        {words.strip.checks(done, step.checks.length)}
      </span>
      <Turned />
    </section>
  );
}

/** The cluster of a lesson that is no more. */
function Orphan() {
  return (
    <section class="lesson-strip" aria-label={words.strip.label}>
      <span class="strip-step">{words.strip.orphan}</span>
      <button type="button" class="link" onClick={() => leaveLesson()}>
        {words.strip.own}
      </button>
    </section>
  );
}
