import { useComputed, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { moment } from '../../language/figures';
import { cut } from '../../parts/cut-name';
import { order } from '../../parts/order';
import { useRowWindow } from '../../parts/rows';
import { Try } from '../../parts/Try';
import { now } from '../clock';
import { collectionPath, idOf, type Kind, objectPath } from '../kinds';
import { namespace } from '../namespace';
import { openObject } from '../navigate';
import { age } from '../object';
import { Reading } from '../Reading';
import { useWatch } from '../use-watch';
import { words } from '../words';
import { BEGINNINGS } from './beginnings';
import { type Column, columnsOf, type Row, tableForm } from './table';

const ROW = 30;

interface Sort {
  readonly column: string;
  readonly down: boolean;
}

/** All objects of a kind, in the columns that the server gives them. */
export function TablePage({ kind }: { kind: Kind }) {
  const path = collectionPath(kind, namespace.value);
  const form = useMemo(() => tableForm(path), [path]);
  const snapshot = useWatch(path, form);
  const filter = useSignal('');
  const wide = useSignal(false);
  const sort = useSignal<Sort | null>(null);
  const all = columnsOf(path).value;
  const columns = useMemo(
    () => columnsShown(all, kind, wide.value),
    [all, wide.value, namespace.value],
  );
  const hasWide = all.some(({ priority = 0 }) => priority > 0);
  const rows = useMemo(
    () => arranged(snapshot.items, filter.value, sort.value, columns),
    [snapshot.version, filter.value, sort.value, columns],
  );
  const { table } = words;
  return (
    <div class="table-page">
      <div class="toolbar">
        <input
          class="field"
          type="search"
          placeholder={table.filter}
          aria-label={table.filter}
          value={filter.value}
          spellcheck={false}
          onInput={(event) => {
            filter.value = event.currentTarget.value;
          }}
        />
        <span class="toolbar-end">
          {hasWide && (
            <label class="toggle" title={table.wideTitle}>
              <input
                type="checkbox"
                checked={wide.value}
                onChange={(event) => {
                  wide.value = event.currentTarget.checked;
                }}
              />
              {table.wide}
            </label>
          )}
          {snapshot.state === 'live' && (
            <span class="faint">{table.count(rows.length, snapshot.items.size)}</span>
          )}
        </span>
      </div>
      {snapshot.problem && (
        <p class="refusal">
          {snapshot.state === 'refused' ? table.refused : table.broken}{' '}
          <span translate={false}>{snapshot.problem}</span>
        </p>
      )}
      {columns.length > 0 && (
        <Rows
          kind={kind}
          columns={columns}
          rows={rows}
          sort={sort.value}
          onSort={(column) => {
            const before = sort.value;
            sort.value =
              before?.column === column ? { column, down: !before.down } : { column, down: false };
          }}
        />
      )}
      {snapshot.state === 'live' && rows.length === 0 && (
        <Nothing kind={kind} isFiltered={snapshot.items.size > 0} />
      )}
      {(snapshot.state === 'loading' || snapshot.state === 'waiting') && (
        <Reading state={snapshot.state} loading={table.loading} />
      )}
    </div>
  );
}

function Nothing({ kind, isFiltered }: { kind: Kind; isFiltered: boolean }) {
  const { table } = words;
  const command = BEGINNINGS[idOf(kind)];
  if (isFiltered) return <p class="empty">{table.noMatch}</p>;
  return (
    <div class="empty">
      <p>{table.empty(kind.kind, (kind.namespaced && namespace.value) || table.everywhere)}</p>
      {command && (
        <>
          <p>{table.try}</p>
          <Try command={command} />
        </>
      )}
    </div>
  );
}

/** A column with where its cell is: the namespace is no cell of the server's. */
interface Shown extends Column {
  readonly at: number;
}

const NAMESPACE = -1;

function columnsShown(all: readonly Column[], kind: Kind, wide: boolean): readonly Shown[] {
  const shown = all
    .map((column, at) => ({ ...column, at }))
    .filter(({ priority = 0 }) => wide || priority === 0);
  if (!kind.namespaced || namespace.value || shown.length === 0) return shown;
  return [{ name: 'Namespace', type: 'string', at: NAMESPACE }, ...shown];
}

/** Ages are counted here, so that they tick; the server's are as old as the event that brought them. */
function isAge({ name, description }: Column): boolean {
  return name === 'Age' && !/last/i.test(description ?? '');
}

function arranged(
  items: ReadonlyMap<string, Row>,
  filter: string,
  sort: Sort | null,
  columns: readonly Shown[],
): Row[] {
  const wanted = filter.toLowerCase();
  const rows = [...items.values()].filter(
    ({ name, namespace: inside }) => !wanted || `${inside}/${name}`.toLowerCase().includes(wanted),
  );
  const column = columns.find(({ name }) => name === sort?.column);
  const plain = (a: Row, b: Row) =>
    order.compare(a.namespace, b.namespace) || order.compare(a.name, b.name);
  const sign = sort?.down ? -1 : 1;
  rows.sort((a, b) => {
    if (!column) return plain(a, b);
    if (isAge(column)) return sign * order.compare(b.created, a.created) || plain(a, b);
    return sign * order.compare(cellText(a, column), cellText(b, column)) || plain(a, b);
  });
  return rows;
}

function cellText(row: Row, { at }: Shown): string {
  if (at === NAMESPACE) return row.namespace;
  const cell = row.cells[at];
  if (cell === null || cell === undefined) return '';
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

interface RowsProps {
  readonly kind: Kind;
  readonly columns: readonly Shown[];
  readonly rows: readonly Row[];
  readonly sort: Sort | null;
  readonly onSort: (column: string) => void;
}

function Rows({ kind, columns, rows, sort, onSort }: RowsProps) {
  const scroller = useRef<HTMLElement>(null);
  const view = useRowWindow(scroller, rows.length, ROW);
  const room = useRoom(scroller);
  const widths = useMemo(() => fitted(widthsOf(columns, rows), room), [columns, rows, room]);
  const gap = gapOf(widths, room);
  const open = (row: Row) => openObject(kind.group, kind.resource, row.namespace, row.name);
  return (
    <section
      ref={scroller}
      class={`table-scroll objects ${rows.length === 0 ? 'is-empty' : ''}`}
      translate={false}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label={kind.kind}
      onKeyDown={onArrow}
    >
      <table
        style={{
          width: `max(100%, ${sum(widths) + columns.length * gap + MARGIN}ch)`,
          '--side': `${(gap / GAP) * 8}px`,
        }}
      >
        <colgroup>
          {columns.map(({ name }, i) => (
            <col
              key={name}
              style={{ width: `${(widths[i] ?? 8) + gap + (i === 0 ? MARGIN : 0)}ch` }}
            />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map((column) => {
              const sorted = sort?.column === column.name;
              return (
                <th
                  key={column.name}
                  title={column.description}
                  aria-sort={sorted ? (sort.down ? 'descending' : 'ascending') : undefined}
                >
                  <button
                    type="button"
                    class="sort"
                    aria-label={words.table.sortBy(column.name)}
                    onClick={() => onSort(column.name)}
                  >
                    {column.name}
                    {sorted && <span aria-hidden="true">{sort.down ? ' \u25be' : ' \u25b4'}</span>}
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {view.above > 0 && <tr style={{ height: `${view.above}px` }} />}
          {rows.slice(view.first, view.end).map((row) => (
            <tr
              key={row.uid || `${row.namespace}/${row.name}`}
              class={`fresh ${row.deleting ? 'is-deleting' : ''}`}
              onClick={(event) => {
                if (!(event.target as Element).closest('a')) open(row);
              }}
            >
              {columns.map((column, i) => (
                <Cell
                  key={column.name}
                  kind={kind}
                  column={column}
                  row={row}
                  width={widths[i] ?? MOST}
                />
              ))}
            </tr>
          ))}
          {view.below > 0 && <tr style={{ height: `${view.below}px` }} />}
        </tbody>
      </table>
    </section>
  );
}

/** Up and down move from name to name. */
function onArrow(event: KeyboardEvent): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const links = [
    ...(event.currentTarget as Element).querySelectorAll<HTMLElement>('a.object-name'),
  ];
  if (step === 0 || links.length === 0) return;
  event.preventDefault();
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
}

interface CellProps {
  readonly kind: Kind;
  readonly column: Shown;
  readonly row: Row;
  /** In characters. */
  readonly width: number;
}

function Cell({ kind, column, row, width }: CellProps) {
  if (column.name === 'Name' && column.at === 0) {
    return (
      <td>
        <a
          class="object-name"
          title={row.name}
          href={`#cluster${objectPath(kind, row.namespace, row.name)}`}
        >
          {cut(row.name, width)}
        </a>
      </td>
    );
  }
  if (isAge(column)) return <Age since={row.created} />;
  const text = cellText(row, column);
  return (
    <td class={toneOf(column.name, text)} title={text.length > 40 ? text : undefined}>
      {text}
    </td>
  );
}

function Age({ since }: { since: string }) {
  const text = useComputed(() => age(since, now.value));
  return <td title={moment(since)}>{text}</td>;
}

/** Words with a colour of their own in every table. */
function toneOf(column: string, text: string): string {
  if (column !== 'Status' && column !== 'Type' && column !== 'Reason') return '';
  if (/^(Running|Ready|Active|Bound|Available|Complete)$/.test(text)) return 'tone-good';
  if (/^(Succeeded|Completed)$/.test(text)) return 'tone-done';
  if (/BackOff|Err|Failed|Evicted|Invalid|NotReady/.test(text)) return 'tone-bad';
  if (/Pending|Creating|Init|Warning|Terminating|SchedulingDisabled/.test(text)) return 'tone-warn';
  return '';
}

/** Between two columns, in characters: as much as there is room for, from one to the other. */
const GAP = 2.4;
const LEAST_GAP = 1.2;

/** What the first column has more than half of the gap on its left, in characters. */
const MARGIN = 1.6;

function gapOf(widths: readonly number[], room: number): number {
  if (room === 0) return GAP;
  return Math.min(GAP, Math.max(LEAST_GAP, (room - sum(widths) - MARGIN) / widths.length));
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

/** How many characters of the table's face there is room for. */
function useRoom(scroller: RefObject<HTMLElement | null>): number {
  const [room, setRoom] = useState(0);
  useEffect(() => {
    const element = scroller.current;
    const table = element?.querySelector('table');
    if (!element || !table) return;
    const context = document.createElement('canvas').getContext('2d');
    if (context) context.font = getComputedStyle(table).font;
    const one = context?.measureText('0').width || 8;
    const resized = new ResizeObserver(() => setRoom(Math.floor(element.clientWidth / one)));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  return room;
}

/** A column that is narrower than this is left as it is. */
const LEAST = 16;

/** Makes the widest columns narrower until all are in sight, as far as that goes: the state of a thing says more than
 * the whole of its name. */
function fitted(widths: readonly number[], room: number): number[] {
  const narrow = [...widths];
  const all = () => sum(narrow) + narrow.length * LEAST_GAP + MARGIN;
  while (room > 0 && all() > room) {
    const widest = Math.max(...narrow);
    if (widest <= LEAST) return narrow;
    narrow[narrow.indexOf(widest)] = widest - 1;
  }
  return narrow;
}

const MOST = 44;

/** In characters of the one face that tables are set in. */
function widthsOf(columns: readonly Shown[], rows: readonly Row[]): number[] {
  return columns.map((column) => {
    let width = Math.ceil(column.name.length * 1.1) + 1;
    for (const row of rows) {
      if (isAge(column)) return Math.max(width, 7);
      width = Math.max(width, Math.min(cellText(row, column).length, MOST));
      if (width === MOST) break;
    }
    return width;
  });
}
