import { requestInfo } from '../console/verbs';
import type { RequestRecord } from './record';

/** The verb as the authorizer was asked, or what method and path say when it never was. */
export function verbOf({ verb, method, path }: RequestRecord): string {
  return verb || requestInfo(method, path).verb;
}

/** "list pods in default", "patch deployments/scale web in default". */
export function meaningOf(record: RequestRecord): string {
  const info = record.resource ? record : requestInfo(record.method, record.path);
  if (!info.resource) return verbOf(record);
  const what = info.subresource ? `${info.resource}/${info.subresource}` : info.resource;
  const where = info.namespace && info.resource !== 'namespaces' ? ` in ${info.namespace}` : '';
  return `${verbOf(record)} ${what}${info.name ? ` ${info.name}` : ''}${where}`;
}
