import { number } from '../language/figures';
import { catalogue } from '../language/language';

export const english = {
  list: 'All requests',
  filter: 'Filter by path, resource, user or command',
  filterLabel: 'Filter',
  kinds: { all: 'All', writes: 'Writes', watches: 'Watches', refused: 'Refused' },
  kindsLabel: 'Which requests',
  views: 'Live view',
  viewsTitle: 'Also show what the page watches to draw the cluster',
  components: 'Components',
  componentsTitle: 'Also show what controllers, the scheduler and nodes ask for',
  pause: 'Pause',
  resume: 'Resume',
  clear: 'Clear',
  count: (shown: number, all: number) =>
    shown === all ? number(all) : `${number(shown)} of ${number(all)}`,
  empty:
    'No request yet. Run a command, apply a file, or try in the browser console: await (await fetch("api/v1/namespaces")).json()',
  emptyFiltered: 'No request matches.',
  columns: {
    method: 'Method',
    path: 'Path',
    meaning: 'Verb and resource',
    status: 'Status',
    from: 'Made by',
    user: 'As',
    size: 'Size',
    time: 'Time',
    at: 'At',
  },
  running: '...',
  /** "list pods in default"; words of the API stay as they are. */
  meaning: (what: string, namespace: string) => (namespace ? `${what} in ${namespace}` : what),
  tabs: {
    head: 'Overview',
    request: 'Request',
    response: 'Response',
    events: 'Events',
    audit: 'Audit',
  },
  audit: {
    about: 'What the API server writes to an audit log, the last stage first.',
    level: 'Level from now on',
  },
  detail: 'Request details',
  close: 'Close the details',
  gone: 'This request is no longer in the log.',
  noBody: 'No body.',
  facts: {
    what: 'Meaning',
    line: 'Request line',
    who: 'Identity',
    impersonated: (who: string, by: string) => `${who}, impersonated by ${by}`,
    from: 'Made by',
    allowed: 'Authorizer',
    status: 'Status',
    began: 'Began',
    took: 'Took',
    head: (ms: string) => `head after ${ms}`,
    sizes: 'Bytes',
    sent: (sent: string, got: string) => `${sent} sent, ${got} received`,
    broken: 'Ended early',
    requestHeaders: 'Request headers',
    responseHeaders: 'Response headers',
  },
  copyAs: 'Copy as',
  toConsole: 'Open in the console',
};

export type Words = typeof english;
export const words = catalogue(english, (chinese) => chinese.requests);
