import type { CheckState, StepState } from '../../../answers/tutorials';
import './lesson-step.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Check, Hint, Lesson, Prediction, Step } from '../../../answers/lessons';
import { refused } from '../../engine/ask';
import { answer } from '../course/answer';
import { state } from '../course/follow';
import { note, progressOf } from '../course/progress';
import { BlockView } from '../text/Block';
import { words } from '../words';
import { Solution } from './Solution';
import { StepEngine } from './StepEngine';

interface StepProps {
  readonly lesson: Lesson;
  readonly step: Step;
}

/** One step: its text, a guess, its checks, hints where something is wrong, and a solution for who asks for it. */
export function StepView({ lesson, step }: StepProps) {
  const now = state.value?.steps.find(({ id }) => id === step.id);
  // A guess comes before the first thing to be done, and so does another engine.
  const first = step.blocks.findIndex((block) => block.actions?.length);
  // What a challenge asks for is part of its solution.
  const engine = step.challenge ? null : step.engine;
  const isSplit = first >= 0 && (step.predict || engine);
  const before = isSplit ? step.blocks.slice(0, first) : step.blocks;
  const after = isSplit ? step.blocks.slice(first) : [];
  return (
    <>
      {before.map((block, i) => (
        <BlockView key={i} block={block} />
      ))}
      {step.predict && (
        <Guess lesson={lesson} step={step} predict={step.predict} isDone={now?.done === true} />
      )}
      {engine && <StepEngine wanted={engine} />}
      {after.map((block, i) => (
        <BlockView key={i} block={block} />
      ))}
      <Checks lesson={lesson} step={step} now={now} />
      <Hints hints={step.hints ?? []} shown={now?.hints ?? []} />
      <Solution lesson={lesson} step={step} />
    </>
  );
}

function Checks({ lesson, step, now }: StepProps & { now: StepState | undefined }) {
  const { checks } = progressOf(lesson.id);
  return (
    <section class="checks" aria-label={words.checks.label}>
      <ul>
        {step.checks.map((check) => (
          <CheckLine
            key={check.id}
            lesson={lesson}
            check={check}
            // Until the engine has told, what was so when the learner left.
            now={
              now?.checks.find(({ id }) => id === check.id) ?? {
                id: check.id,
                done: !state.value?.ready && checks.includes(check.id),
              }
            }
          />
        ))}
      </ul>
      {!state.value?.ready && <p class="faint checks-wait">{words.checks.waiting}</p>}
    </section>
  );
}

interface CheckProps {
  readonly lesson: Lesson;
  readonly check: Check;
  readonly now: CheckState;
}

function CheckLine({ lesson, check, now }: CheckProps) {
  const how = now.failed ? 'failed' : now.done ? 'done' : 'open';
  return (
    <li class={`check is-${how}`}>
      <svg viewBox="0 0 20 20" width="18" height="18" class="tick" aria-hidden="true">
        <circle cx="10" cy="10" r="8.2" />
        {how === 'done' && <path d="M6.2 10.4l2.6 2.6 5-5.6" />}
        {how === 'failed' && <path d="M7 7l6 6M13 7l-6 6" />}
      </svg>
      <span class="check-title">
        {check.title}
        <span class="unseen">{`, ${words.checks[how]}`}</span>
        {how === 'failed' && <span class="check-failed">{words.checks.failed}</span>}
        {how === 'open' && now.error && (
          <span class="check-failed">
            {words.checks.broken} <code translate={false}>{now.error}</code>
          </span>
        )}
        {now.done && now.seen && (
          <code class="check-seen" translate={false} title={words.checks.seen}>
            {now.seen}
          </code>
        )}
        {check.answer && !now.done && (
          <Answer lesson={lesson} name={check.answer.key} title={check.title} />
        )}
      </span>
    </li>
  );
}

interface AnswerProps {
  readonly lesson: Lesson;
  readonly name: string;
  readonly title: string;
}

/** Where the learner says what cannot be seen from what they do. */
function Answer({ lesson, name, title }: AnswerProps) {
  const text = useSignal('');
  const problem = useSignal('');
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault();
        const said = text.value.trim();
        if (!said) return;
        answer(lesson.namespace, name, said).then(
          () => {
            problem.value = '';
          },
          (error: unknown) => {
            problem.value = words.trouble.answer(
              error instanceof Error ? error.message : String(refused(0, String(error)).message),
            );
          },
        );
      }}
    >
      <input
        class="field"
        aria-label={`${words.checks.answer}: ${title}`}
        value={text.value}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
      <button type="submit" class="button small">
        {words.checks.send}
      </button>
      {problem.value && (
        <p class="answer-problem" role="alert">
          {problem.value}
        </p>
      )}
    </form>
  );
}

function Hints({ hints, shown }: { hints: readonly Hint[]; shown: readonly string[] }) {
  const all = hints.filter(({ id }) => shown.includes(id));
  return (
    <div class="hints" role="status">
      {all.map(({ id, text }) => (
        <p key={id} class="hint">
          <b>{words.hint}</b> {text}
        </p>
      ))}
    </div>
  );
}

interface GuessProps extends StepProps {
  readonly predict: Prediction;
  readonly isDone: boolean;
}

/** A guess, which the step then confirms or not: it has no effect on checks. */
function Guess({ lesson, step, predict, isDone }: GuessProps) {
  const told = useSignal(false);
  const guess = progressOf(lesson.id).guesses[step.id];
  const right = predict.options.find((option) => option.right);
  useEffect(() => {
    told.value = false;
  }, [step.id]);
  const isTold = guess !== undefined && (told.value || isDone);
  return (
    <fieldset class="guess">
      <legend>
        <span class="eyebrow">{words.predict.label}</span>
        {predict.question}
      </legend>
      {predict.options.map((option, i) => (
        <label key={option.text} class={`guess-option ${isTold && option.right ? 'is-right' : ''}`}>
          <input
            type="radio"
            name={`guess-${step.id}`}
            checked={guess === i}
            disabled={isTold}
            onChange={() => {
              const { guesses } = progressOf(lesson.id);
              note(lesson.id, { guesses: { ...guesses, [step.id]: i } });
            }}
          />
          <span>{option.text}</span>
        </label>
      ))}
      <div role="status">
        {guess !== undefined && !isTold && (
          <p class="guess-kept">
            {words.predict.kept}{' '}
            <button
              type="button"
              class="link"
              onClick={() => {
                told.value = true;
              }}
            >
              {words.predict.tell}
            </button>
          </p>
        )}
        {isTold && (
          <p class="guess-why">
            {right && (
              <b>
                {predict.options[guess]?.right
                  ? words.predict.right
                  : words.predict.wrong(right.text)}
              </b>
            )}{' '}
            {predict.why}
          </p>
        )}
      </div>
    </fieldset>
  );
}
