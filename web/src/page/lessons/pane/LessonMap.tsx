import './lesson-map.css';
import type { Entry, Part } from '../../../answers/lessons';
import { lessonHere } from '../course/home';
import { course, entries, loadCourse, shown } from '../course/load';
import { pathOf } from '../course/place';
import { forget, isDone, type Progress, progress, unreadable } from '../course/progress';
import { words } from '../words';

/** All lessons and the path through them. */
export function LessonMap() {
  const loaded = course.value;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="lesson-map" tabIndex={0} aria-label={words.map.title}>
      <div class="map-room">
        <h2>{words.map.title}</h2>
        <p class="map-lead">{words.map.lead}</p>
        {loaded.state === 'loading' && (
          <p class="faint" role="status">
            {words.loadingMap}
          </p>
        )}
        {loaded.state === 'failed' && (
          <div class="trouble" role="alert">
            <h2>{words.failedMap}</h2>
            <p class="why" translate={false}>
              {loaded.trouble.why}
            </p>
            <p>{words.failedNext}</p>
            <button type="button" class="button primary" onClick={loadCourse}>
              {words.again}
            </button>
          </div>
        )}
        {loaded.state === 'loaded' && (
          <>
            <GoOn />
            <Faults />
            <ol class="map-parts">
              {loaded.value.parts.map((part, i) => (
                <PartOfMap key={part.id} part={part} number={i + 1} />
              ))}
            </ol>
            <p class="faint">{words.map.offline}</p>
          </>
        )}
      </div>
    </section>
  );
}

type State = 'done' | 'begun' | 'open';

function stateOf(kept: Progress | undefined): State {
  if (!kept) return 'open';
  return isDone(kept) ? 'done' : 'begun';
}

/** Where the learner goes on: the lesson of this tab, else the first that is not done. */
export function nextEntry(): Entry | null {
  const known = progress.value;
  const all = entries();
  const open = all.filter(({ id }) => stateOf(known.get(id)) !== 'done');
  return (
    open.find(({ id }) => id === lessonHere.value) ??
    open.find(({ id }) => known.has(id)) ??
    open[0] ??
    null
  );
}

function GoOn() {
  const next = nextEntry();
  const all = entries();
  const done = all.filter(({ id }) => stateOf(progress.value.get(id)) === 'done').length;
  return (
    <div class="map-now">
      {next && (
        <a class="button primary" href={`#/lesson${pathOf(next.id)}`}>
          {progress.value.has(next.id)
            ? words.map.goOn(shown(next.title))
            : words.map.begin(shown(next.title))}
        </a>
      )}
      <span class="map-sum">{words.map.sum(done, all.length)}</span>
    </div>
  );
}

function PartOfMap({ part, number }: { part: Part; number: number }) {
  if (part.lessons.length === 0) return null;
  return (
    <li class="map-part">
      <h3>
        <span class="map-number">{number}</span>
        {shown(part.title)}
      </h3>
      <ol>
        {part.lessons.map((entry, i) => (
          <LessonOfMap key={entry.id} entry={entry} number={`${number}.${i + 1}`} />
        ))}
      </ol>
    </li>
  );
}

function LessonOfMap({ entry, number }: { entry: Entry; number: string }) {
  const kept = progress.value.get(entry.id);
  const now = stateOf(kept);
  return (
    <li class={`map-lesson is-${now}`}>
      <a
        href={`#/lesson${pathOf(entry.id)}`}
        aria-current={entry.id === lessonHere.value ? 'true' : undefined}
      >
        <span class="map-bead" aria-hidden="true" />
        <span class="map-name">
          <span class="map-number">{number}</span> {shown(entry.title)}
        </span>
        <span class="unseen">{`, ${words.map.states[now]}, `}</span>
        <span class="map-minutes">
          {now === 'begun' && kept
            ? words.map.steps(kept.done.length, kept.steps)
            : words.minutes(entry.minutes)}
        </span>
      </a>
    </li>
  );
}

/** What is kept and of no use: it says so, and can be thrown away. */
function Faults() {
  const known = new Set(entries().map(({ id }) => id));
  const vanished = [...progress.value.keys()].filter((id) => !known.has(id));
  const faults = [
    ...[...unreadable.value].map((id) => ({ id, text: words.map.unreadable(id.slice(0, 80)) })),
    ...vanished.map((id) => ({ id, text: words.map.vanished(id.slice(0, 80)) })),
  ];
  return (
    <>
      {faults.map(({ id, text }) => (
        <p key={id} class="lesson-note">
          {text}{' '}
          <button type="button" class="link" onClick={() => forget(id)}>
            {words.map.forget}
          </button>
        </p>
      ))}
    </>
  );
}
