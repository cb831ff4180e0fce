import { useEffect } from 'preact/hooks';
import { route } from '../frame/route';
import { Guide } from './Guide';
import { LessonMap } from './LessonMap';
import { loadCourse } from './load';
import { openLessons } from './open';
import { lessonPlace } from './place';

openLessons();

/** The map of all lessons, or the lesson that the address names. */
export function LessonsView() {
  useEffect(loadCourse, []);
  const place = lessonPlace(route.value.path);
  return place ? <Guide key={place.id} id={place.id} step={place.step} /> : <LessonMap />;
}
