import { signal } from '@preact/signals';
import type { Record as RequestRecord } from '../../answers/requestlog';
import { verbOf } from './verb';

export const KINDS = ['all', 'writes', 'watches', 'refused'] as const;
export type Kind = (typeof KINDS)[number];

export interface Filter {
  readonly text: string;
  readonly kind: Kind;
  readonly views: boolean;
  readonly components: boolean;
}

export const filter = signal<Filter>({ text: '', kind: 'all', views: false, components: false });

export function passes(record: RequestRecord, { text, kind, views, components }: Filter): boolean {
  if (record.internal && !components) return false;
  if (record.from === 'view' && record.method === 'GET' && !views) return false;
  if (kind === 'writes' && (record.method === 'GET' || record.method === 'HEAD')) return false;
  if (kind === 'watches' && !record.watch) return false;
  if (kind === 'refused' && (record.status ?? 0) < 400) return false;
  if (!text) return true;
  const all = [record.method, record.path, verbOf(record), record.resource, record.user];
  const hay = [...all, record.from, record.command, record.status].join(' ').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => hay.includes(word));
}
