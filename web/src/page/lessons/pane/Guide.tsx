import './lesson.css';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Lesson, Step } from '../../../answers/lessons';
import { isEmbedded } from '../../engine/here';
import { words as engineWords } from '../../engine/words';
import { PaneBar } from '../../frame/PaneBar';
import { go, replace } from '../../frame/route';
import { language } from '../../language/current';
import { flagsOf, run, setsEngine } from '../course/engine';
import { state, trouble, tryAgain } from '../course/follow';
import { enterLesson, isHere, leaveLesson, lessonHere } from '../course/home';
import { lessonOf, loadLesson, neighbour, shown } from '../course/load';
import { pathOf } from '../course/place';
import { isDone, notKept, progressOf, unreadable } from '../course/progress';
import { resetLesson } from '../course/reset';
import { BlockView } from '../text/Block';
import { words } from '../words';
import { StepView } from './Step';
import { Turned } from './Turned';

interface GuideProps {
  readonly id: string;
  /** As in the address, counted from 1. */
  readonly step: number | null;
}

/** One lesson, step by step. */
export function Guide({ id, step }: GuideProps) {
  const now = language.value;
  useEffect(() => {
    void loadLesson(id, now);
  }, [id, now]);
  const loaded = lessonOf(id);
  useEffect(() => {
    if (loaded.state !== 'loaded') return;
    if (isHere(id)) lessonHere.value = id;
    else enterLesson(id, step ?? undefined);
  }, [id, loaded.state]);
  const lesson = loaded.state === 'loaded' ? loaded.value : null;
  return (
    <section class="lesson pane" aria-label={words.bar.label}>
      <PaneBar pane="left">
        <button type="button" class="link lesson-all" onClick={() => go('lessons')}>
          {words.all}
        </button>
        {lesson && <h2 class="pane-title lesson-title">{lesson.title}</h2>}
        {lesson && <Buttons lesson={lesson} />}
      </PaneBar>
      {loaded.state === 'loading' && (
        <p class="empty" role="status">
          {words.loading}
        </p>
      )}
      {loaded.state === 'failed' && (
        <div class="trouble" role="alert">
          <h2>{loaded.trouble.kind === 'missing' ? words.missing(id) : words.failed}</h2>
          <p class="why" translate={false}>
            {loaded.trouble.why}
          </p>
          <p>{loaded.trouble.kind === 'missing' ? words.missingWhy : words.failedNext}</p>
          {loaded.trouble.kind === 'unreachable' && (
            <button type="button" class="button primary" onClick={() => void loadLesson(id, now)}>
              {words.again}
            </button>
          )}{' '}
          <button type="button" class="button" onClick={() => leaveLesson('#lessons')}>
            {words.all}
          </button>
        </div>
      )}
      {lesson && <Body lesson={lesson} asked={step} />}
      <Turned />
    </section>
  );
}

function Buttons({ lesson }: { lesson: Lesson }) {
  const { bar } = words;
  return (
    <span class="lesson-buttons">
      <button
        type="button"
        class="link"
        title={bar.resetTitle}
        onClick={() => void resetLesson(lesson)}
      >
        {bar.reset}
      </button>
      {!isEmbedded && (
        <button type="button" class="link" title={bar.leaveTitle} onClick={() => leaveLesson()}>
          {bar.leave}
        </button>
      )}
    </span>
  );
}

/** The step of the address; where it names none, the one where the learner was. Counted from 0. */
export function stepAt(lesson: Lesson, asked: number | null): number {
  if (asked !== null) return asked <= lesson.steps.length ? asked - 1 : 0;
  const { step } = progressOf(lesson.id);
  return Math.max(
    lesson.steps.findIndex(({ id }) => id === step),
    0,
  );
}

function Body({ lesson, asked }: { lesson: Lesson; asked: number | null }) {
  const at = stepAt(lesson, asked);
  const step = lesson.steps[at] as Step;
  const all = lesson.steps.length;
  const heading = useRef<HTMLHeadingElement>(null);
  const shownStep = useRef(at);
  useEffect(() => {
    if (asked === null) replace('lessons', pathOf(lesson.id, at + 1));
  }, [asked]);
  // With the step itself: a moment later, the heading would take the focus from who has gone on to the terminal.
  useLayoutEffect(() => {
    if (shownStep.current === at) return;
    shownStep.current = at;
    heading.current?.closest('.lesson-body')?.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, [at]);
  const toStep = (to: number) => {
    if (to >= 0 && to < all) go('lessons', pathOf(lesson.id, to + 1));
  };
  return (
    <>
      <Steps lesson={lesson} at={at} onStep={toStep} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys have buttons that do the same */}
      <div
        class="lesson-body"
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
          if ((event.target as Element).closest('input, textarea, select, pre')) return;
          if (event.key === 'ArrowRight') toStep(at + 1);
          else if (event.key === 'ArrowLeft') toStep(at - 1);
        }}
      >
        <article class="lesson-text">
          <p class="eyebrow">
            {step.challenge ? words.challenge : words.step(at + 1, all)}
            {at === 0 && <span> · {words.minutes(lesson.minutes)}</span>}
          </p>
          <h2 class="step-title" tabIndex={-1} ref={heading}>
            {step.title}
          </h2>
          <Notes lesson={lesson} wrong={asked !== null && asked > all ? asked : null} />
          {at === 0 && lesson.intro.map((block, i) => <BlockView key={i} block={block} />)}
          <StepView key={step.id} lesson={lesson} step={step} />
        </article>
      </div>
      <Foot lesson={lesson} at={at} onStep={toStep} />
    </>
  );
}

interface PlaceProps {
  readonly lesson: Lesson;
  /** The step that is shown, counted from 0. */
  readonly at: number;
  readonly onStep: (to: number) => void;
}

function isStepDone(lesson: Lesson, step: Step): boolean {
  const now = state.value;
  if (now?.ready) return now.steps.find(({ id }) => id === step.id)?.done === true;
  const { checks } = progressOf(lesson.id);
  return step.checks.every(({ id }) => checks.includes(id));
}

/** Where one is in the lesson, and what is done of it. */
function Steps({ lesson, at, onStep }: PlaceProps) {
  return (
    <nav class="lesson-steps" aria-label={words.steps}>
      <ol>
        {lesson.steps.map((step, i) => {
          const done = isStepDone(lesson, step);
          const title = words.stepState(step.title, done);
          return (
            <li key={step.id}>
              <button
                type="button"
                class={done ? 'is-done' : ''}
                aria-current={i === at ? 'step' : undefined}
                aria-label={title}
                title={title}
                onClick={() => onStep(i)}
              >
                <span class="bead" />
              </button>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

/** What the engine of a lesson runs with that is about settings. */
function engineNote(lesson: Lesson): string {
  if (!setsEngine(lesson)) return '';
  const text = words.sets;
  const wanted = flagsOf(lesson.engine ?? {}).join(' ');
  const now = run.value && flagsOf(run.value.settings).join(' ');
  if (now === wanted) return wanted && text.engine(wanted);
  const isBegun = progressOf(lesson.id).begun || run.value?.refused;
  if (now === null || !isBegun) return wanted && !isBegun ? text.restarting(wanted) : '';
  return now ? text.now(now) : text.usual;
}

/** What the lesson has set by itself, and what is wrong. */
function Notes({ lesson, wrong }: { lesson: Lesson; wrong: number | null }) {
  const set = engineNote(lesson);
  const now = state.value;
  const problem = trouble.value;
  return (
    <>
      {wrong !== null && <p class="lesson-note">{words.wrongStep(wrong)}</p>}
      {unreadable.value.has(lesson.id) && <p class="lesson-note">{words.trouble.torn}</p>}
      {notKept.value && !isEmbedded && <p class="lesson-note">{words.trouble.notKept}</p>}
      {set && <p class="lesson-note">{set}</p>}
      {set && run.value?.refused && (
        <div class="lesson-note" role="alert">
          {words.engine.refused}
          <p class="why" translate={false}>
            {engineWords.said(run.value.refused.why)}
          </p>
        </div>
      )}
      {lesson.clock?.paused && <p class="lesson-note">{words.sets.paused}</p>}
      {(problem || now?.error) && (
        <div class="trouble" role="alert">
          <h2>{problem ? words.trouble.checks : words.trouble.error}</h2>
          {problem?.missing ? (
            <p>{words.trouble.missing}</p>
          ) : (
            <>
              <p class="why" translate={false}>
                {problem?.why ?? now?.error}
              </p>
              <button type="button" class="button" onClick={tryAgain}>
                {words.again}
              </button>
            </>
          )}
        </div>
      )}
    </>
  );
}

function Foot({ lesson, at, onStep }: PlaceProps) {
  const all = lesson.steps.length;
  const isLast = at === all - 1;
  const next = neighbour(lesson.id, 1);
  const previous = neighbour(lesson.id, -1);
  const done = isStepDone(lesson, lesson.steps[at] as Step);
  const how = done ? 'button primary' : 'button';
  return (
    <footer class="lesson-foot">
      {at > 0 ? (
        <button type="button" class="button quiet" onClick={() => onStep(at - 1)}>
          {words.previous}
        </button>
      ) : previous ? (
        <button
          type="button"
          class="button quiet"
          title={words.previousLesson(shown(previous.title))}
          onClick={() => enterLesson(previous.id)}
        >
          {words.previousOne}
        </button>
      ) : (
        <span />
      )}
      <p class="lesson-end">
        {isLast && isDone(progressOf(lesson.id)) && (
          <>
            {words.lessonDone} {!next && words.courseDone}
          </>
        )}
      </p>
      {!isLast ? (
        <button type="button" class={how} onClick={() => onStep(at + 1)}>
          {words.next}
        </button>
      ) : next ? (
        <button
          type="button"
          class={how}
          title={words.nextLesson(shown(next.title))}
          onClick={() => enterLesson(next.id)}
        >
          {words.finish}
        </button>
      ) : (
        <button type="button" class={how} onClick={() => go('lessons')}>
          {words.all}
        </button>
      )}
    </footer>
  );
}
