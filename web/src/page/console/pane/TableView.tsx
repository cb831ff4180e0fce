import { useSignal } from '@preact/signals';
import { words } from '../words';

/** A Table of meta.k8s.io/v1: columns and cells as the server made them. */
export interface Table {
  readonly columnDefinitions: readonly {
    readonly name: string;
    readonly type: string;
    readonly description?: string;
    readonly priority?: number;
  }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

const FIRST_ROWS = 500;

/** @returns the table in an answer, or null when the answer is something else */
export function readTable(text: string | null, contentType: string): Table | null {
  // Reading a large answer twice is only worth it when it says that it is a table.
  if (!text || !contentType.includes('json') || !text.slice(0, 200).includes('"Table"'))
    return null;
  try {
    const value = JSON.parse(text) as Partial<Table> & { kind?: string };
    if (value.kind !== 'Table' || !Array.isArray(value.columnDefinitions)) return null;
    return { columnDefinitions: value.columnDefinitions, rows: value.rows ?? [] };
  } catch {
    return null;
  }
}

export function TableView({ table }: { table: Table }) {
  const all = useSignal(false);
  const rows = all.value ? table.rows : table.rows.slice(0, FIRST_ROWS);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="table-scroll" tabIndex={0} aria-label={words.response.views.table}>
      <table translate={false}>
        <thead>
          <tr>
            {table.columnDefinitions.map((column) => (
              <th key={column.name} title={column.description} class={numeric(column.type)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.cells.map((cell, at) => (
                <td key={at} class={numeric(table.columnDefinitions[at]?.type ?? '')}>
                  {typeof cell === 'object' && cell !== null
                    ? JSON.stringify(cell)
                    : String(cell ?? '')}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length < table.rows.length && (
        <p class="empty">
          {words.response.rows(rows.length, table.rows.length)}{' '}
          <button
            type="button"
            class="link"
            onClick={() => {
              all.value = true;
            }}
          >
            {words.response.showAll}
          </button>
        </p>
      )}
    </section>
  );
}

function numeric(type: string): string {
  return type === 'integer' || type === 'number' ? 'number' : '';
}
