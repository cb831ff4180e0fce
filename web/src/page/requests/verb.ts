import type { Record as RequestRecord } from '../../answers/requestlog';
import { requestInfo } from '../parts/verbs';

/** The verb as the authorizer was asked, or what method and path say when it never was. */
export function verbOf({ verb, method, path }: RequestRecord): string {
  return verb || requestInfo(method, path).verb;
}
