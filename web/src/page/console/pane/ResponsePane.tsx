import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Code } from '../../editor/Code';
import type { Language } from '../../editor/code-types';
import { bytes, duration } from '../../parts/format';
import { prettyJson } from '../../parts/pretty';
import { Tabs } from '../../parts/Tabs';
import { type Draft, header } from '../draft';
import { type Answer, isUnderWay, type Run, run, type Trouble } from '../run';
import { words } from '../words';
import { CopyMenu } from './CopyMenu';
import { readTable, TableView } from './TableView';
import { WatchEvents } from './WatchEvents';

type View = 'json' | 'yaml' | 'text' | 'table' | 'events' | 'headers';

/** The answer: its status line, and its body in the views that fit it. */
export function ResponsePane() {
  const current = run.value;
  const chosen = useSignal<{ readonly of: string; readonly view: View } | null>(null);
  // A choice holds while the same request is repeated; another request is shown as suits it best.
  const key = current ? requestKey(current.request) : '';
  const wanted = chosen.value?.of === key ? chosen.value.view : null;
  const text = current?.text ?? null;
  const contentType = current?.answer?.contentType ?? '';
  const table = useMemo(() => readTable(text, contentType), [text, contentType]);
  const refusal = useMemo(() => refusalIn(current), [current]);
  const views = current?.answer ? viewsOf(current, table !== null) : [];
  const view = wanted && views.includes(wanted) ? wanted : views[0];
  return (
    <section
      id="response"
      class="pane response-pane"
      tabIndex={-1}
      aria-label={words.response.region}
    >
      <StatusLine current={current} />
      {refusal && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <p class="refusal" translate={false} tabIndex={0}>
          {refusal}
        </p>
      )}
      {view ? (
        <Tabs
          name="response-view"
          label={words.response.region}
          tabs={views.map((id) => ({ id, label: words.response.views[id] }))}
          chosen={view}
          onChoose={(id) => {
            chosen.value = { of: key, view: id as View };
          }}
        >
          {current && <CopyMenu request={current.request} text={text} />}
        </Tabs>
      ) : (
        <div class="tabs" />
      )}
      <div
        class="pane-body"
        id="response-view-panel"
        // A region that scrolls must be reachable by keyboard, and a list of events has nothing else that is.
        {...(view && { role: 'tabpanel', 'aria-labelledby': `response-view-${view}`, tabIndex: 0 })}
      >
        {current?.trouble && <TroubleBox trouble={current.trouble} />}
        {!current && <p class="empty">{words.response.empty}</p>}
        {current?.phase === 'queued' && <p class="empty">{words.response.queued}</p>}
        {current?.answer && view === 'headers' && <HeaderList answer={current.answer} />}
        {current?.watch && view === 'events' && <WatchEvents watch={current.watch} />}
        {table && view === 'table' && <TableView table={table} />}
        {current && (view === 'json' || view === 'yaml' || view === 'text') && (
          <Body current={current} language={view} />
        )}
      </div>
    </section>
  );
}

/** The message of a Status that is a failure: what happened and why, in the server's own words. */
function refusalIn(current: Run | null): string | null {
  if (!current?.answer || current.answer.status < 400 || !current.text) return null;
  try {
    const { kind, message } = JSON.parse(current.text) as { kind?: unknown; message?: unknown };
    return kind === 'Status' && typeof message === 'string' && message ? message : null;
  } catch {
    return null;
  }
}

function requestKey(request: Draft): string {
  return `${request.method} ${request.path} ${header(request, 'Accept')}`;
}

function viewsOf({ watch, answer }: Run, hasTable: boolean): readonly View[] {
  if (watch) return ['events', 'headers'];
  const type = answer?.contentType ?? '';
  const body = type.includes('json') ? 'json' : type.includes('yaml') ? 'yaml' : 'text';
  return hasTable ? ['table', body, 'headers'] : [body, 'headers'];
}

function StatusLine({ current }: { current: Run | null }) {
  const answer = current?.answer;
  return (
    <div class="status-line">
      {answer ? (
        <>
          <span class={`code-badge status-${Math.floor(answer.status / 100)}`} translate={false}>
            {answer.status} {answer.statusText}
          </span>
          <Figures current={current} answer={answer} />
        </>
      ) : (
        <span class="faint">{current ? phaseWords(current) : words.response.region}</span>
      )}
    </div>
  );
}

function Figures({ current, answer }: { current: Run; answer: Answer }) {
  const live = isUnderWay(current);
  return (
    <>
      <span title={words.response.size}>{bytes(current.bytes)}</span>
      {!current.watch && !live && (
        <span title={words.response.time}>{duration(current.totalMs)}</span>
      )}
      <span class="faint" title={words.response.head}>
        {words.response.headAfter(duration(answer.headMs))}
      </span>
      {current.watch && <WatchPhase current={current} />}
      {current.phase === 'stopped' && !current.watch && (
        <span class="faint">{words.response.stopped}</span>
      )}
    </>
  );
}

function WatchPhase({ current }: { current: Run }) {
  if (isUnderWay(current)) {
    return (
      <span class="watching">
        <span class="lamp" aria-hidden="true" />
        {words.watch.streaming}
      </span>
    );
  }
  return (
    <span class="faint">
      {current.phase === 'stopped' ? words.watch.stopped : words.watch.ended}
    </span>
  );
}

function phaseWords({ phase }: Run): string {
  if (phase === 'queued') return words.response.queuedShort;
  if (phase === 'sent') return words.response.waiting;
  if (phase === 'stopped') return words.response.stopped;
  return words.response.region;
}

function Body({ current, language }: { current: Run; language: Language }) {
  const { text, answer } = current;
  const shown = useMemo(
    () => (text !== null && language === 'json' ? prettyJson(text) : (text ?? '')),
    [text, language],
  );
  if (isUnderWay(current))
    return <p class="empty">{words.response.receiving(bytes(current.bytes))}</p>;
  if (text === null) {
    const none = current.bytes === 0;
    return (
      <p class="empty">
        {none
          ? words.response.noBody
          : words.response.binary(answer?.contentType ?? '', bytes(current.bytes))}
      </p>
    );
  }
  return <Code text={shown} language={language} readOnly label={words.response.region} />;
}

function HeaderList({ answer }: { answer: Answer }) {
  return (
    <dl class="header-list" translate={false}>
      {answer.headers.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function TroubleBox({ trouble }: { trouble: Trouble }) {
  return (
    <div class="trouble">
      <h2>{trouble.what}</h2>
      <p class="why" translate={false}>
        {trouble.why}
      </p>
      <p>{trouble.next}</p>
    </div>
  );
}
