import { signal } from '@preact/signals';
import type { Course, Entry, Lesson } from '../../../answers/lessons';
import type { Text } from '../../../answers/tutorials';
import { scope } from '../../engine/cluster';
import { type Language, language } from '../../language/current';

/** Why a text could not be had: there is none, or the way to it is closed. */
export interface LoadTrouble {
  readonly kind: 'missing' | 'unreachable';
  readonly why: string;
}

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'loaded'; readonly value: T }
  | { readonly state: 'failed'; readonly trouble: LoadTrouble };

/** The folder of the lessons' texts. */
const FOLDER = new URL('lessons/', scope);

export const course = signal<Loaded<Course>>({ state: 'loading' });
let asked = false;

/** Has the list of all lessons loaded, again after a failure. */
export function loadCourse(): void {
  if (asked && course.value.state !== 'failed') return;
  asked = true;
  course.value = { state: 'loading' };
  void fetchJson<Course>('index.json').then((loaded) => {
    course.value = loaded;
  });
}

const lessons = signal<ReadonlyMap<string, Loaded<Lesson>>>(new Map());

/** A lesson in the language that is shown; until that has come, in the one that was shown before. */
export function lessonOf(id: string): Loaded<Lesson> {
  const now = lessons.value.get(`${id}.${language.value}`);
  if (now?.state === 'loaded' || now?.state === 'failed') return now;
  const other = lessons.value.get(`${id}.${language.value === 'en' ? 'zh' : 'en'}`);
  return other?.state === 'loaded' ? other : (now ?? { state: 'loading' });
}

/** Has a lesson's text loaded, again after a failure. */
export async function loadLesson(id: string, of: Language): Promise<void> {
  const key = `${id}.${of}`;
  const known = lessons.peek().get(key);
  if (known && known.state !== 'failed') return;
  const put = (loaded: Loaded<Lesson>) => {
    lessons.value = new Map(lessons.peek()).set(key, loaded);
  };
  put({ state: 'loading' });
  put(await fetchJson<Lesson>(`${key}.json`));
}

async function fetchJson<T extends object>(file: string): Promise<Loaded<T>> {
  try {
    const answer = await fetch(new URL(file, FOLDER));
    const text = await answer.text();
    // Hosts of single pages answer 200 and the page itself for what is not there.
    const isJson = text.trimStart().startsWith('{');
    if (answer.status === 404 || (answer.ok && !isJson)) return failed('missing', file);
    if (!answer.ok) return failed('unreachable', `HTTP ${answer.status}`);
    return { state: 'loaded', value: JSON.parse(text) as T };
  } catch (error) {
    return failed('unreachable', error instanceof Error ? error.message : String(error));
  }
}

function failed(kind: LoadTrouble['kind'], why: string): Loaded<never> {
  return { state: 'failed', trouble: { kind, why } };
}

/** Of a text in both languages, the one that is shown. */
export function shown(text: Text): string {
  return text[language.value];
}

/** All lessons in the order of the course. */
export function entries(): readonly Entry[] {
  return course.value.state === 'loaded'
    ? course.value.value.parts.flatMap(({ lessons }) => lessons)
    : [];
}

/** The lesson that many places behind one, or before it. */
export function neighbour(id: string, by: 1 | -1): Entry | null {
  const all = entries();
  const at = all.findIndex((entry) => entry.id === id);
  return at < 0 ? null : (all[at + by] ?? null);
}
