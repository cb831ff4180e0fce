import { isEmbedded } from '../../engine/here';
import type { PaletteCommand } from '../../frame/palette-commands';
import { go, route } from '../../frame/route';
import { words } from '../words';
import { enterLesson, leaveLesson, lessonHere } from './home';
import { entries, lessonOf, loadCourse, shown } from './load';
import { openLessons } from './open';
import { lessonPlace, pathOf } from './place';
import { progressOf } from './progress';
import { resetLesson } from './reset';

/** For the palette: every lesson, and what can be done in the one that is open. */
export function lessonCommands(): readonly PaletteCommand[] {
  openLessons();
  loadCourse();
  const { group } = words.palette;
  const all = entries().map(({ id, title }) => ({
    id: `lesson ${id}`,
    group,
    label: shown(title),
    // A name is looked for in either language.
    keywords: `${id.replaceAll(/[/-]/g, ' ')} ${title.en} ${title.zh}`,
    run: () => enterLesson(id),
  }));
  return [...all, ...commandsHere(group)];
}

function commandsHere(group: string): readonly PaletteCommand[] {
  const loaded = lessonOf(lessonHere.value);
  if (!lessonHere.value || loaded.state !== 'loaded') return [];
  const lesson = loaded.value;
  const { palette } = words;
  const asked = lessonPlace(route.value.path)?.step;
  const kept = lesson.steps.findIndex(({ id }) => id === progressOf(lesson.id).step);
  const at = asked ? asked - 1 : Math.max(kept, 0);
  const to = (step: number) => () => go('lessons', pathOf(lesson.id, step + 1));
  const weight = 8;
  return [
    ...(at + 1 < lesson.steps.length
      ? [{ id: 'lesson next', group, label: palette.next, weight, run: to(at + 1) }]
      : []),
    ...(at > 0
      ? [{ id: 'lesson previous', group, label: palette.previous, weight, run: to(at - 1) }]
      : []),
    { id: 'lesson reset', group, label: palette.reset, run: () => void resetLesson(lesson) },
    ...(isEmbedded
      ? []
      : [{ id: 'lesson leave', group, label: palette.leave, run: () => leaveLesson() }]),
  ];
}
