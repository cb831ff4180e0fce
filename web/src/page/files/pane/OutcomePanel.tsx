import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../../frame/icons';
import {
  closeSession,
  type DocumentOutcome,
  type Session,
  session,
  settle,
} from '../apply/session';
import { words } from '../words';
import { activePath } from '../workspace/workspace';
import { goToLine } from './FileText';

/** What the API server said to the last task, document by document. */
export function OutcomePanel() {
  const now = session.value;
  if (!now || now.path !== activePath.value) return null;
  return (
    <section class="outcome" aria-label={words.outcome}>
      <button
        type="button"
        class="icon-button outcome-close"
        aria-label={words.closeOutcome}
        title={words.closeOutcome}
        onClick={closeSession}
      >
        <Icon name="close" size={13} />
      </button>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <div class="outcome-body" tabIndex={0}>
        {now.phase === 'queued' && <p class="faint">{words.waiting}</p>}
        {now.outcomes.map((each) => (
          <OneOutcome key={each.document.from} session={now} each={each} />
        ))}
        {now.phase === 'working' && <p class="faint">{words.working}</p>}
        {now.phase === 'done' && now.outcomes.length === 0 && <p>{words.results.nothing}</p>}
      </div>
    </section>
  );
}

const TONES: Readonly<Record<DocumentOutcome['outcome']['result'], string>> = {
  created: 'tone-good',
  configured: 'tone-good',
  unchanged: 'faint',
  valid: 'tone-good',
  deleted: 'tone-warn',
  absent: 'faint',
  refused: 'tone-bad',
  conflict: 'tone-warn',
};

function OneOutcome({ session: now, each }: { session: Session; each: DocumentOutcome }) {
  const { outcome, title, problems, sides } = each;
  return (
    <article class="one-outcome">
      <h2>
        <b translate={!title}>{title || words.results.unread}</b>{' '}
        <span class={TONES[outcome.result]}>{words.results[outcome.result]}</span>
      </h2>
      {outcome.result === 'refused' && (
        <p class="why" translate={false}>
          {outcome.message}
        </p>
      )}
      {problems.length > 0 && (
        <ul class="problems">
          {problems.map(({ line, message }) => (
            <li key={`${line} ${message}`}>
              <button type="button" class="link" onClick={() => goToLine(line)}>
                {words.atLine(line, now.path)}
              </button>{' '}
              <span translate={false}>{message}</span>
            </li>
          ))}
        </ul>
      )}
      {outcome.result === 'conflict' && <ConflictChoice each={each} />}
      {sides &&
        (sides.live === sides.wanted ? (
          <p class="faint">{words.noDifference}</p>
        ) : (
          <>
            {sides.isNew && <p class="faint">{words.isNew}</p>}
            <Diff live={sides.live} wanted={sides.wanted} />
          </>
        ))}
    </article>
  );
}

function ConflictChoice({ each }: { each: DocumentOutcome }) {
  const { outcome } = each;
  if (outcome.result !== 'conflict') return null;
  const { conflict } = words;
  return (
    <>
      <p>{conflict.what}</p>
      <ul class="problems">
        {outcome.conflicts.map(({ field, owner }) => (
          <li key={`${field} ${owner}`}>
            <code>{field.replace(/^\./, '')}</code>{' '}
            <span class="owner-name" translate={false}>
              {owner}
            </span>
          </li>
        ))}
      </ul>
      <p class="ways">
        <button
          type="button"
          class="button small"
          title={conflict.forceTitle}
          onClick={() => void settle(each, 'force')}
        >
          {conflict.force}
        </button>
        <button
          type="button"
          class="button small"
          title={conflict.leaveTitle}
          onClick={() => void settle(each, 'leave')}
        >
          {conflict.leave}
        </button>
        <button
          type="button"
          class="button small"
          title={conflict.shareTitle}
          onClick={() => void settle(each, 'share')}
        >
          {conflict.share}
        </button>
      </p>
    </>
  );
}

function Diff({ live, wanted }: { live: string; wanted: string }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let end: (() => void) | null = null;
    let gone = false;
    void import('./diff-view').then(({ showDiff }) => {
      if (!gone && host.current) end = showDiff(host.current, live, wanted, words.diff);
    });
    return () => {
      gone = true;
      end?.();
    };
  }, [live, wanted]);
  return <div class="diff" translate={false} ref={host} />;
}
