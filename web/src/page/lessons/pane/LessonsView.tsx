import { useLayoutEffect } from 'preact/hooks';
import { route } from '../../frame/route';
import { loadCourse } from '../course/load';
import { openLessons } from '../course/open';
import { lessonPlace } from '../course/place';
import { Guide } from './Guide';
import { LessonMap } from './LessonMap';

/** The map of all lessons, or the lesson that the address names. */
export function LessonsView() {
  useLayoutEffect(() => {
    openLessons();
    loadCourse();
  }, []);
  const place = lessonPlace(route.value.path);
  return place ? <Guide key={place.id} id={place.id} step={place.step} /> : <LessonMap />;
}
