import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type {
  Body,
  Detail,
  Event as LoggedEvent,
  Record as RequestRecord,
} from '../../answers/requestlog';
import { replaceDraft } from '../console/draft';
import { WatchEvents } from '../console/pane/WatchEvents';
import { asCurl, asFetch } from '../console/snippets';
import { WatchLog, type WatchView } from '../console/watch-log';
import { ADMIN } from '../control/identity';
import { Code } from '../editor/Code';
import { ask } from '../engine/ask';
import { framesOf } from '../engine/frames';
import { words as engineWords } from '../engine/words';
import { Icon } from '../frame/icons';
import { go } from '../frame/route';
import { CopyButton } from '../parts/Copy';
import { bytes, clock, duration } from '../parts/format';
import { prettyJson } from '../parts/pretty';
import { Tabs } from '../parts/Tabs';
import { verbClass } from '../parts/verbs';
import { AuditEvents } from './AuditEvents';
import { isPart, maker } from './maker';
import { meaningOf } from './meaning';
import { asClientGo, asKubectl, telling } from './snippets';
import { verbOf } from './verb';
import { words } from './words';

type View = 'head' | 'request' | 'response' | 'events' | 'audit';

interface DetailProps {
  readonly id: number;
  readonly record: RequestRecord | null;
  readonly onClose: () => void;
}

/** Everything about one request. */
export function RequestDetail({ id, record, onClose }: DetailProps) {
  const detail = useSignal<Detail | null>(null);
  const gone = useSignal(false);
  const chosen = useSignal<View | null>(null);
  const done = record?.done;
  const status = record?.status;
  useEffect(() => {
    const stop = new AbortController();
    void ask('control', `/kubetab/requests/${id}`, { signal: stop.signal, as: ADMIN })
      .then(async (response) => {
        gone.value = !response.ok;
        if (response.ok) detail.value = (await response.json()) as Detail;
      })
      .catch(() => undefined); // closed, or another state is asked for
    return () => stop.abort();
  }, [id, done, status]);
  const all = detail.value;
  const views: View[] = record?.watch
    ? ['events', 'head']
    : all?.requestBody
      ? ['head', 'request', 'response']
      : ['response', 'head'];
  if (all?.audit) views.push('audit');
  const view = chosen.value && views.includes(chosen.value) ? chosen.value : (views[0] as View);
  return (
    <section
      class="request-detail"
      aria-label={words.detail}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        onClose();
      }}
    >
      <Tabs
        name="detail-view"
        label={words.detail}
        tabs={views.map((name) => ({ id: name, label: words.tabs[name] }))}
        chosen={view}
        onChoose={(name) => {
          chosen.value = name as View;
        }}
      >
        {all && <CopyAs detail={all} />}
        <button
          type="button"
          class="icon-button"
          aria-label={words.close}
          title={words.close}
          onClick={onClose}
        >
          <Icon name="close" size={14} />
        </button>
      </Tabs>
      <div
        id="detail-view-panel"
        class="pane-body"
        role="tabpanel"
        aria-labelledby={`detail-view-${view}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {gone.value && <p class="empty">{words.gone}</p>}
        {all && view === 'head' && <Overview detail={all} />}
        {all && view === 'request' && (
          <BodyView body={all.requestBody} label={words.tabs.request} />
        )}
        {all && view === 'response' && (
          <BodyView body={all.responseBody} label={words.tabs.response} />
        )}
        {view === 'events' && <Events id={id} />}
        {all && view === 'audit' && <AuditEvents text={all.audit ?? ''} />}
      </div>
    </section>
  );
}

function CopyAs({ detail }: { detail: Detail }) {
  const { method, path } = detail;
  const body = detail.requestBody?.text ?? '';
  const headers = telling(detail.requestHeaders);
  const contentType = headers.find(([name]) => /^content-type$/i.test(name))?.[1] ?? '';
  const request = { method, path, headers, body, contentType };
  const asDraft = {
    method,
    path,
    headers: headers.map(([name, value]) => ({ name, value })),
    body,
  };
  return (
    <fieldset class="copy">
      <legend class="unseen">{words.copyAs}</legend>
      <CopyButton label="curl" text={() => asCurl(asDraft)} />
      <CopyButton label="kubectl" text={() => asKubectl(request)} />
      <CopyButton label="Go" text={() => asClientGo(request)} />
      <CopyButton label="JavaScript" text={() => asFetch(asDraft)} />
      <button
        type="button"
        class="link"
        onClick={() => {
          replaceDraft(asDraft);
          go('console');
        }}
      >
        {words.toConsole}
      </button>
    </fieldset>
  );
}

function Overview({ detail }: { detail: Detail }) {
  const { facts } = words;
  const who = detail.user ?? '';
  const verb = verbOf(detail);
  return (
    <>
      <dl class="facts">
        <Fact name={facts.what}>
          <span class={verbClass(verb)} translate={false}>
            {meaningOf(detail)}
          </span>
        </Fact>
        <Fact name={facts.line} isName>
          <code>
            {detail.method} {detail.path}
          </code>
        </Fact>
        <Fact name={facts.who} isName={!detail.impersonator}>
          {detail.impersonator ? facts.impersonated(who, detail.impersonator) : who}
        </Fact>
        <Fact name={facts.from} isName={!isPart(detail)}>
          {maker(detail)}
        </Fact>
        {detail.reason && (
          <Fact name={facts.allowed} isName>
            {detail.reason}
          </Fact>
        )}
        <Fact name={facts.status}>{detail.status ?? words.running}</Fact>
        <Fact name={facts.took}>
          {duration(detail.ms)}, {facts.head(duration(detail.headMs ?? 0))}
        </Fact>
        <Fact name={facts.began}>{clock(detail.begin)}</Fact>
        <Fact name={facts.sizes}>
          {facts.sent(bytes(detail.requestBytes ?? 0), bytes(detail.bytes ?? 0))}
        </Fact>
        {detail.broken && <Fact name={facts.broken}>{engineWords.said(detail.broken)}</Fact>}
      </dl>
      <h2 class="headers-title">{facts.requestHeaders}</h2>
      <HeaderList headers={detail.requestHeaders} />
      <h2 class="headers-title">{facts.responseHeaders}</h2>
      <HeaderList headers={detail.responseHeaders} />
    </>
  );
}

interface FactProps {
  readonly name: string;
  /** What is said is a name, or the engine's own words. */
  readonly isName?: boolean;
  readonly children: preact.ComponentChildren;
}

function Fact({ name, isName = false, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd translate={!isName}>{children}</dd>
    </div>
  );
}

function HeaderList({ headers }: { headers: readonly (readonly [string, string])[] }) {
  return (
    <dl class="header-list" translate={false}>
      {headers.map(([name, value], i) => (
        <div key={`${i} ${name}`}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function BodyView({ body, label }: { body: Body | undefined; label: string }) {
  if (!body) return <p class="empty">{words.noBody}</p>;
  const text = body.language === 'json' ? prettyJson(body.text) : body.text;
  return (
    <div class="body-view">
      {body.note && <p class="note">{engineWords.said(body.note)}</p>}
      <Code text={text} language={body.language} readOnly label={label} />
    </div>
  );
}

/** The events of a watch, those that were kept and each as it comes. */
function Events({ id }: { id: number }) {
  const view = useSignal<WatchView>({ events: [], counts: {}, total: 0 });
  useEffect(() => {
    const stop = new AbortController();
    const log = new WatchLog((next) => {
      view.value = next;
    });
    void follow(id, stop.signal, log);
    return () => {
      stop.abort();
      log.close();
    };
  }, [id]);
  return <WatchEvents watch={view.value} />;
}

async function follow(id: number, signal: AbortSignal, log: WatchLog): Promise<void> {
  try {
    const path = `/kubetab/requests/${id}/events`;
    const response = await ask('control', path, { signal, as: ADMIN });
    if (!response.ok || !response.body) return;
    for await (const frame of framesOf(response.body)) {
      const { at, body } = JSON.parse(frame) as LoggedEvent;
      log.add(body.text, at);
    }
  } catch {
    // Closed, or the engine ended: what has arrived stays.
  }
}
