import { type Signal, signal } from '@preact/signals';
import type { Form } from '../watch';

/** As meta.k8s.io/v1 TableColumnDefinition. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

export interface Row {
  readonly cells: readonly unknown[];
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly created: string;
  readonly deleting: boolean;
}

interface RawTable {
  readonly columnDefinitions?: readonly Column[] | null;
  readonly rows?: readonly {
    readonly cells: readonly unknown[];
    readonly object?: {
      readonly metadata?: {
        readonly name?: string;
        readonly namespace?: string;
        readonly uid?: string;
        readonly creationTimestamp?: string;
        readonly deletionTimestamp?: string;
        readonly annotations?: Readonly<Record<string, string>>;
      };
    };
  }[];
}

const known = new Map<string, Signal<readonly Column[]>>();

/** The columns of the table of a collection, as the last watch of it brought them. */
export function columnsOf(path: string): Signal<readonly Column[]> {
  let columns = known.get(path);
  if (!columns) {
    columns = signal([]);
    known.set(path, columns);
  }
  return columns;
}

/** Rows as the server made them. Only the first event of a watch brings the columns; see `columnsOf`. */
export function tableForm(path: string): Form<Row> {
  return {
    name: 'table',
    accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
    note(object) {
      const { columnDefinitions } = object as RawTable;
      if (columnDefinitions?.length) columnsOf(path).value = columnDefinitions;
    },
    read(object) {
      return ((object as RawTable).rows ?? []).map(({ cells, object: about }) => {
        const {
          name = '',
          namespace = '',
          uid = '',
          creationTimestamp = '',
          deletionTimestamp,
        } = about?.metadata ?? {};
        const row: Row = {
          cells,
          uid,
          name,
          namespace,
          created: creationTimestamp,
          deleting: deletionTimestamp !== undefined,
        };
        return [`${namespace}/${name}`, row] as const;
      });
    },
    isInitialEnd(object) {
      const { rows } = object as RawTable;
      const notes = rows?.[0]?.object?.metadata?.annotations;
      return notes?.['k8s.io/initial-events-end'] === 'true';
    },
  };
}
