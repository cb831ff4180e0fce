import { computed, signal } from '@preact/signals';
import { isClusterName, kindOf, lessonCluster } from '../../../client/cluster-names';
import { clusterHere, isEmbedded, lastOwn, switchTo } from '../../engine/here';
import { nameHere } from '../../engine/name-here';
import { siteStorage, tabStorage } from '../../engine/storage';
import { address, go, route } from '../../frame/route';
import { shellHeld } from '../../terminal/held';
import { lessonPlace, pathOf } from './place';

/** What the course begins with. */
export const FIRST_LESSON = 'first/request';

const KEY = nameHere('kubetab.lesson-here');
const OFFER = nameHere('kubetab.lessons.offer');

/** The lesson that embed.html was opened with: its one cluster is that lesson's. */
const embedded = isEmbedded ? addressed() : '';

/** Whether the cluster of this tab is a lesson's. */
export const inLesson = isEmbedded ? embedded !== '' : kindOf(clusterHere) === 'lesson';
/**
 * The lesson whose cluster this tab is in, whatever view is shown: its checks are looked at. Empty for none, and until it
 * is known which one the cluster belongs to.
 */
export const lessonHere = signal([addressed(), recall()].find(isHere) ?? '');

/** To be called once, before a shell is opened. */
export function followLessonHere(): void {
  // Until the lesson has begun, or cannot.
  shellHeld.value = inLesson;
  // Where it cannot be kept, the list of lessons tells after a reload.
  lessonHere.subscribe((id) => tabStorage.keepText(KEY, id || null));
}

/** Whether a lesson's cluster is the one of this tab. */
export function isHere(id: string): boolean {
  if (isEmbedded) return id !== '' && id === embedded;
  return id !== '' && clusterOf(id) === clusterHere;
}

function clusterOf(id: string): string {
  const [part = '', lesson = ''] = id.split('/');
  return lessonCluster(part, lesson);
}

function addressed(): string {
  const { view, path } = route.value;
  return view === 'lessons' ? (lessonPlace(path)?.id ?? '') : '';
}

function recall(): string {
  return lessonPlace(`/${tabStorage.text(KEY)}`)?.id ?? '';
}

const declined = signal(wasDeclined());

/** A first visit is offered the first lesson: until it is declined, or any lesson was begun. */
export const isOffered = computed(() => !declined.value && !inLesson && !isEmbedded);

export function decline(): void {
  declined.value = true;
  siteStorage.keepText(OFFER, 'declined');
}

function wasDeclined(): boolean {
  // Where storage is closed, what is declined could not be remembered.
  return siteStorage.keys() === null || siteStorage.text(OFFER) !== null;
}

/**
 * Goes to a lesson, into the cluster that belongs to it: the page is loaded anew where that is another one. An embed with a
 * lesson begins again with the other one.
 */
export function enterLesson(id: string, step?: number): void {
  decline();
  const path = pathOf(id, step);
  if (isHere(id)) go('lessons', path);
  else if (isEmbedded && inLesson) {
    go('lessons', path);
    location.reload();
  } else if (isClusterName(clusterOf(id)))
    switchTo(clusterOf(id), { hash: address('lessons', path) });
}

/** Back to the lesson that the tab is in, or to the map. */
export function goToLessons(): void {
  const isThere = route.value.view === 'lessons';
  go('lessons', !isThere && lessonHere.value ? pathOf(lessonHere.value) : '');
}

/** Goes back to the visitor's own cluster; the lesson's stays as it is. */
export function leaveLesson(hash = '#cluster'): void {
  if (inLesson && !isEmbedded) switchTo(lastOwn(), { hash });
  else location.hash = hash;
}
