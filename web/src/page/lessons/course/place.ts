/** Which lesson, and which of its steps, an address means: `#/lesson/read/watch/3`. */
export interface LessonPlace {
  /** `read/watch`. */
  readonly id: string;
  /** Counted from 1; null for an address without a step, which leads to where the learner was. */
  readonly step: number | null;
}

const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/**
 * @param path what follows the view in the address: `/read/watch/3`; empty for the map
 * @returns null for the map, and for what is no lesson's address
 */
export function lessonPlace(path: string): LessonPlace | null {
  const [, part = '', lesson = '', step = ''] = path.split('/');
  if (!NAME.test(part) || !NAME.test(lesson)) return null;
  const number = /^[1-9]\d{0,2}$/.test(step) ? Number(step) : null;
  return { id: `${part}/${lesson}`, step: number };
}

/** The path of a lesson's step, counted from 1. */
export function pathOf(id: string, step?: number): string {
  return step === undefined ? `/${id}` : `/${id}/${step}`;
}
