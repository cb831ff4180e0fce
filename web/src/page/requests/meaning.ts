import type { Record as RequestRecord } from '../../answers/requestlog';
import { requestInfo } from '../parts/verbs';
import { verbOf } from './verb';
import { words } from './words';

/** "list pods in default", "patch deployments/scale web in default". */
export function meaningOf(record: RequestRecord): string {
  const info = record.resource ? record : requestInfo(record.method, record.path);
  if (!info.resource) return verbOf(record);
  const what = info.subresource ? `${info.resource}/${info.subresource}` : info.resource;
  const name = info.name ? ` ${info.name}` : '';
  const namespace = info.resource === 'namespaces' ? '' : (info.namespace ?? '');
  return words.meaning(`${verbOf(record)} ${what}${name}`, namespace);
}
