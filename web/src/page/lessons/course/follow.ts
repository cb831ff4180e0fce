import { computed, effect, signal } from '@preact/signals';
import type { Lesson } from '../../../answers/lessons';
import type { State as LessonState } from '../../../answers/tutorials';
import { setClock } from '../../control/clock';
import { same } from '../../control/settings/settings-text';
import { askAsAdmin, Refused, refused } from '../../engine/ask';
import { engineState, ready, restartEngine } from '../../engine/cluster';
import { framesOf } from '../../engine/frames';
import { shellHeld } from '../../terminal/held';
import { words } from '../words';
import { setsEngine } from './engine';
import { note, progressOf, type Told } from './progress';

/** The engine's word on the lesson that is open; null before it has said one. */
export const state = signal<LessonState | null>(null);
/** Why the lesson's checks are not looked at; `missing` says that this engine never does. Null while all is well. */
export const trouble = signal<{ readonly missing: boolean; readonly why: string } | null>(null);
/** What has turned green or failed last, for screen readers; by itself, as other views speak of what they do. */
export const turned = signal('');
/** Grows to have the lesson that is open followed anew. */
const again = signal(0);

const PATH = '/kubetab/lesson';
/** Between two watches, in ms: one that ends at once, as of an engine that closes, shall not be asked for without end. */
const PAUSE = 1000;

const settings = computed(() =>
  engineState.value?.phase === 'ready' ? engineState.value.run : null,
);

/**
 * Has every engine that starts evaluate a lesson's checks, and receives the results. No shell is opened in an engine
 * before that: its commands would go to another namespace, and no check would see them.
 *
 * @returns how to stop
 */
export function followLesson(lesson: Lesson): () => void {
  let mine = new AbortController();
  const stop = effect(() => {
    void again.value;
    const isReady = ready.value;
    mine.abort();
    mine = new AbortController();
    state.value = null;
    trouble.value = null;
    if (isReady) void follow(lesson, mine.signal);
    else shellHeld.value = true;
  });
  return () => {
    stop();
    mine.abort();
    state.value = null;
    shellHeld.value = false;
  };
}

/** Tries once more what has failed. */
export function tryAgain(): void {
  again.value += 1;
}

async function follow(lesson: Lesson, gone: AbortSignal): Promise<void> {
  try {
    if (!(await isArmed(lesson.id, gone)) && !(await arm(lesson, gone))) return;
    if (!gone.aborted) shellHeld.value = false;
    while (!gone.aborted) {
      const answer = await askAsAdmin('lesson', `${PATH}?watch=1`, { signal: gone });
      if (!answer.ok || !answer.body) throw refused(answer.status, await answer.text());
      for await (const frame of framesOf(answer.body)) take(lesson, JSON.parse(frame));
      await pause(PAUSE, gone);
    }
  } catch (error) {
    // An engine that is gone is told by `ready`.
    if (gone.aborted || !ready.value) return;
    const missing = error instanceof Refused && error.status === 404;
    shellHeld.value = false;
    trouble.value = { missing, why: error instanceof Error ? error.message : String(error) };
  }
}

/** Waits, and no longer than until the signal. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

/** Whether this engine looks at the lesson already: it has outlived the page that began it. */
async function isArmed(id: string, signal: AbortSignal): Promise<boolean> {
  const answer = await askAsAdmin('lesson', PATH, { signal });
  const text = await answer.text();
  return answer.ok && (JSON.parse(text) as LessonState | null)?.id === id;
}

/** @returns false when an engine with other settings comes first, which is then followed */
async function arm(lesson: Lesson, signal: AbortSignal): Promise<boolean> {
  const run = settings.peek();
  const { begun } = progressOf(lesson.id);
  const isKept = begun && run?.cluster === 'kept';
  const wanted = lesson.engine ?? {};
  if (!isKept && run && setsEngine(lesson) && !same(wanted, run.settings)) {
    // Those that it has refused are not tried twice: the lesson's checks then say what is missing.
    if (!run.refused || !same(run.refused.settings, wanted)) {
      restartEngine('kept', wanted);
      return false;
    }
  }
  const answer = await askAsAdmin('lesson', isKept ? `${PATH}?keep=1` : PATH, {
    method: 'PUT',
    headers: [['Content-Type', 'application/json']],
    body: JSON.stringify(
      isKept ? { ...lesson.lesson, progress: progressFor(lesson) } : lesson.lesson,
    ),
    signal,
  });
  const text = await answer.text();
  if (!answer.ok) throw refused(answer.status, text);
  if (isKept) return true;
  if (lesson.clock?.paused) await setClock(lesson.clock);
  await putFiles(lesson);
  note(lesson.id, { begun: true, checks: [], told: [], guesses: {}, shown: {} });
  return true;
}

/** How the lesson stood; for what an earlier build of the page has kept, as far as that says. */
function progressFor(lesson: Lesson): readonly Told[] {
  const { told, checks, done } = progressOf(lesson.id);
  if (told.length > 0) return told;
  return lesson.steps.map((step) => ({
    id: step.id,
    done: done.includes(step.id),
    checks: step.checks
      .filter(({ id }) => checks.includes(id))
      .map(({ id }) => ({ id, done: true })),
  }));
}

/** What the lesson brings into the workspace. What is there under the same name is the learner's, and stays. */
async function putFiles({ files = {} }: Lesson): Promise<void> {
  if (Object.keys(files).length === 0) return;
  const { openFile, putMissingFiles } = await import('./files');
  const [first] = await putMissingFiles(files);
  if (first) openFile(first);
}

function take(lesson: Lesson, next: LessonState): void {
  if (next.id !== lesson.id) return; // another tab is in another lesson of this cluster
  const before = state.peek();
  state.value = next;
  if (before) announce(lesson, before, next);
  const kept = progressOf(lesson.id);
  const told = next.steps.map(({ id, done, checks }) => ({ id, done, checks }));
  const checks = next.steps.flatMap(({ checks }) => checks.filter(({ done }) => done)).map(idOf);
  const steps = next.steps.filter(({ done }) => done).map(idOf);
  const done = [...new Set([...kept.done, ...steps])];
  const differs = JSON.stringify([told, done]) !== JSON.stringify([kept.told, kept.done]);
  if (next.ready && differs) note(lesson.id, { checks, told, done, steps: lesson.steps.length });
}

const idOf = ({ id }: { readonly id: string }) => id;

/** Says to a screen reader what has turned green, or failed, or cannot be evaluated. */
function announce(lesson: Lesson, before: LessonState, now: LessonState): void {
  const earlier = new Map(
    before.steps.flatMap(({ checks }) => checks.map((check) => [check.id, check] as const)),
  );
  const titles = new Map(
    lesson.steps.flatMap(({ checks }) => checks.map(({ id, title }) => [id, title] as const)),
  );
  const said: string[] = [];
  for (const { id, done, failed, error, seen = '' } of now.steps.flatMap(({ checks }) => checks)) {
    const title = titles.get(id);
    if (!title) continue;
    if (done && !earlier.get(id)?.done) said.push(words.checks.turned(title, seen));
    if (failed && !earlier.get(id)?.failed) said.push(words.checks.fell(title));
    if (error && !done && !earlier.get(id)?.error) said.push(words.checks.broke(title));
  }
  for (const step of now.steps) {
    const wasDone = before.steps.find(({ id }) => id === step.id)?.done;
    if (step.done && !wasDone) {
      const title = lesson.steps.find(({ id }) => id === step.id)?.title ?? step.id;
      said.push(words.stepDone(title));
    }
  }
  if (said.length > 0) turned.value = said.join(' ');
}
