import './requests.css';
import { useComputed, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Record as RequestRecord } from '../../answers/requestlog';
import { scope } from '../engine/here';
import { bytes, clock, duration } from '../parts/format';
import { useRowWindow } from '../parts/rows';
import { verbClass } from '../parts/verbs';
import { words as frameWords } from '../words';
import { filter, KINDS, passes } from './filter';
import { clearLog, paused, records } from './log';
import { isPart, maker } from './maker';
import { meaningOf } from './meaning';
import { RequestDetail } from './RequestDetail';
import { verbOf } from './verb';
import { words } from './words';

const ROW = 28;

/** Every request that any part made, newest last, as in a browser's network tab. */
export function Inspector() {
  const chosen = useSignal(0);
  const shown = useComputed(() => records.value.filter((record) => passes(record, filter.value)));
  const selected = records.value.find(({ id }) => id === chosen.value);
  return (
    <div class={`inspector ${chosen.value ? 'has-detail' : ''}`}>
      <div class="requests">
        <Toolbar shown={shown.value.length} />
        <Rows
          rows={shown.value}
          chosen={chosen.value}
          onChoose={(id) => {
            chosen.value = id;
          }}
        />
      </div>
      {chosen.value > 0 && (
        <RequestDetail
          key={chosen.value}
          id={chosen.value}
          record={selected ?? null}
          onClose={() => {
            chosen.value = 0;
          }}
        />
      )}
    </div>
  );
}

function Toolbar({ shown }: { shown: number }) {
  const now = filter.value;
  const set = (change: Partial<typeof now>) => {
    filter.value = { ...filter.value, ...change };
  };
  return (
    <div class="toolbar">
      <input
        class="field"
        type="search"
        placeholder={words.filter}
        aria-label={words.filterLabel}
        value={now.text}
        spellcheck={false}
        onInput={(event) => set({ text: event.currentTarget.value })}
      />
      <select
        class="field"
        aria-label={words.kindsLabel}
        value={now.kind}
        onChange={(event) =>
          set({ kind: KINDS.find((k) => k === event.currentTarget.value) ?? 'all' })
        }
      >
        {KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {words.kinds[kind]}
          </option>
        ))}
      </select>
      <Toggle
        label={words.views}
        title={words.viewsTitle}
        on={now.views}
        onChange={(views) => set({ views })}
      />
      <Toggle
        label={words.components}
        title={words.componentsTitle}
        on={now.components}
        onChange={(components) => set({ components })}
      />
      <span class="toolbar-end">
        <span class="faint">{words.count(shown, records.value.length)}</span>
        <button
          type="button"
          class="button small"
          aria-pressed={paused.value}
          onClick={() => {
            paused.value = !paused.value;
          }}
        >
          {paused.value ? words.resume : words.pause}
        </button>
        <button type="button" class="button small" onClick={clearLog}>
          {words.clear}
        </button>
      </span>
    </div>
  );
}

interface ToggleProps {
  readonly label: string;
  readonly title: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
}

function Toggle({ label, title, on, onChange }: ToggleProps) {
  return (
    <label class="toggle" title={title}>
      <input type="checkbox" checked={on} onChange={(e) => onChange(e.currentTarget.checked)} />
      {label}
    </label>
  );
}

interface RowsProps {
  readonly rows: readonly RequestRecord[];
  readonly chosen: number;
  readonly onChoose: (id: number) => void;
}

function Rows({ rows, chosen, onChoose }: RowsProps) {
  const scroller = useRef<HTMLElement>(null);
  // Newest first: what has just happened is in sight without scrolling.
  const view = useRowWindow(scroller, rows.length, ROW);
  const newest = (i: number) => rows[rows.length - 1 - i] as RequestRecord;
  const visible = Array.from({ length: view.end - view.first }, (_, i) => newest(view.first + i));
  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = rows.findIndex(({ id }) => id === chosen);
    const next = at < 0 ? rows[rows.length - 1] : rows[at - step];
    if (!next) return;
    onChoose(next.id);
    const top = (rows.length - 1 - rows.indexOf(next)) * ROW;
    const element = scroller.current;
    if (!element) return;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top > element.scrollTop + element.clientHeight - 2 * ROW) {
      element.scrollTop = top - element.clientHeight + 2 * ROW;
    }
  }
  const { columns } = words;
  return (
    <section
      ref={scroller}
      class="rows"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label={words.list}
      onKeyDown={onKeyDown}
    >
      <table class="log">
        <thead>
          <tr>
            <th class="col-method">{columns.method}</th>
            <th class="col-path">{columns.path}</th>
            <th class="col-meaning">{columns.meaning}</th>
            <th class="col-status">{columns.status}</th>
            <th class="col-from">{columns.from}</th>
            <th class="col-user">{columns.user}</th>
            <th class="col-size number">{columns.size}</th>
            <th class="col-time number">{columns.time}</th>
            <th class="col-at">{columns.at}</th>
          </tr>
        </thead>
        <tbody>
          {view.above > 0 && <tr class="spacer" style={{ height: `${view.above}px` }} />}
          {visible.map((record) => (
            <Row
              key={record.id}
              record={record}
              chosen={record.id === chosen}
              onChoose={onChoose}
            />
          ))}
          {view.below > 0 && <tr class="spacer" style={{ height: `${view.below}px` }} />}
        </tbody>
      </table>
      {rows.length === 0 && (
        <p class="empty">{records.value.length === 0 ? words.empty : words.emptyFiltered}</p>
      )}
    </section>
  );
}

interface RowProps {
  readonly record: RequestRecord;
  readonly chosen: boolean;
  readonly onChoose: (id: number) => void;
}

function Row({ record, chosen, onChoose }: RowProps) {
  const verb = verbOf(record);
  const refused = (record.status ?? 0) >= 400 || record.broken;
  return (
    <tr class={chosen ? 'is-chosen' : ''} onClick={() => onChoose(record.id)}>
      <td class={`col-method ${verbClass(verb)}`} translate={false}>
        {record.method}
      </td>
      <td class="col-path" title={addressOf(record.path)} translate={false}>
        <button type="button" class="row-button" aria-pressed={chosen} tabIndex={chosen ? 0 : -1}>
          {record.path}
        </button>
      </td>
      <td class="col-meaning" translate={false}>
        {meaningOf(record)}
      </td>
      <td class={`col-status ${refused ? 'is-refused' : ''}`}>{record.status ?? words.running}</td>
      <td class="col-from" translate={isPart(record)}>
        {maker(record)}
      </td>
      <td class="col-user" translate={false}>
        {record.user ?? ''}
      </td>
      <td class="col-size number">{bytes(record.bytes ?? 0)}</td>
      <td class="col-time number">
        {record.watch ? (
          <span class={record.done ? 'faint' : 'verb-watch'}>
            {frameWords.strip.stream(record.events ?? 0)}
          </span>
        ) : record.done ? (
          duration(record.ms)
        ) : (
          words.running
        )}
      </td>
      <td class="col-at">{clock(record.begin)}</td>
    </tr>
  );
}

/** What a script of the page asks for: the API of a copy in a folder lies in that folder. */
function addressOf(path: string): string {
  return scope.pathname.slice(0, -1) + path;
}
