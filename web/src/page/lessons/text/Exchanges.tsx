import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Detail, Record as RequestRecord } from '../../../answers/requestlog';
import { askAsAdmin } from '../../engine/ask';
import { arrange } from '../../frame/layout';
import { duration } from '../../parts/format';
import { prettyJson } from '../../parts/pretty';
import { verbClass } from '../../parts/verbs';
import { telling } from '../../requests/snippets';
import { verbOf } from '../../requests/verb';
import { words } from '../words';

/** Of one command: kubectl asks for discovery first, and what was meant comes last. */
const MOST = 5;
const MOST_LINES = 24;

/** Requests as they passed, each with what was said and answered. */
export function Exchanges({ records }: { records: readonly RequestRecord[] }) {
  const all = useSignal(false);
  const shown = all.value ? records : records.slice(-MOST);
  const more = records.length - shown.length;
  return (
    <ul class="exchanges" aria-label={words.exchange.label}>
      {more > 0 && (
        <li>
          <button
            type="button"
            class="link"
            onClick={() => {
              all.value = true;
            }}
          >
            {words.exchange.others(more)}
          </button>
        </li>
      )}
      {shown.map((record) => (
        <Exchange key={record.id} record={record} />
      ))}
    </ul>
  );
}

function Exchange({ record }: { record: RequestRecord }) {
  const open = useSignal(false);
  const { method, path, status, watch, events = 0, done, ms } = record;
  return (
    <li class="exchange">
      <button
        type="button"
        class="exchange-line"
        aria-expanded={open.value}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        <span class={`exchange-method ${verbClass(verbOf(record))}`} translate={false}>
          {method}
        </span>
        <span class="exchange-path" translate={false} title={`${method} ${path}`}>
          {path}
        </span>
        {status !== undefined && (
          <span class={`exchange-status ${status >= 400 ? 'is-refused' : ''}`}>{status}</span>
        )}
        <span class="exchange-time">
          {watch ? words.exchange.events(events) : done ? duration(ms) : words.exchange.running}
        </span>
      </button>
      {open.value && <Both record={record} />}
    </li>
  );
}

/** Of the answer's headers, those that a reader of the API looks at. */
const TELLING = /^(content-type|warning|retry-after|location|etag|vary|allow)$/i;

function Both({ record }: { record: RequestRecord }) {
  const { id, method, path, done, status, watch } = record;
  const detail = useSignal<Detail | null>(null);
  const gone = useSignal(false);
  useEffect(() => {
    const stop = new AbortController();
    askAsAdmin('control', `/kubetab/requests/${id}`, { signal: stop.signal })
      .then(async (response) => {
        gone.value = !response.ok;
        if (response.ok) detail.value = (await response.json()) as Detail;
      })
      .catch(() => undefined); // closed, or another state is asked for
    return () => stop.abort();
  }, [id, done, status]);
  if (gone.value) return <p class="exchange-both faint">{words.exchange.gone}</p>;
  if (!detail.value) return null;
  const { requestHeaders, responseHeaders, requestBody, responseBody } = detail.value;
  return (
    <div class="exchange-both">
      <p class="exchange-part">{words.exchange.request}</p>
      <Message
        head={`${method} ${path}`}
        headers={telling(requestHeaders)}
        body={requestBody?.text ?? ''}
      />
      <p class="exchange-part">{words.exchange.response}</p>
      <Message
        head={status === undefined ? '' : String(status)}
        headers={responseHeaders.filter(([name]) => TELLING.test(name))}
        body={watch ? '' : (responseBody?.text ?? '')}
      />
      <button type="button" class="link" onClick={() => arrange({ drawerOpen: true })}>
        {words.exchange.all}
      </button>
    </div>
  );
}

interface MessageProps {
  readonly head: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

function Message({ head, headers, body }: MessageProps) {
  const lines = prettyJson(body).split('\n');
  const more = lines.length - MOST_LINES;
  return (
    <pre
      translate={false}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
    >
      <b>{head}</b>
      {headers.map(([name, value]) => `\n${name}: ${value}`)}
      {body && `\n\n${lines.slice(0, MOST_LINES).join('\n')}`}
      {more > 0 && <span class="faint">{`\n${words.exchange.more(more)}`}</span>}
    </pre>
  );
}
