import { catalogue } from '../language/language';

/** What CodeMirror says itself, by its own English phrases; `$` stands for a figure. */
export const english = {
  phrases: {
    Find: 'Find',
    Replace: 'Replace',
    next: 'next',
    previous: 'previous',
    all: 'all',
    'match case': 'match case',
    regexp: 'regexp',
    'by word': 'by word',
    replace: 'replace',
    'replace all': 'replace all',
    close: 'close',
    'current match': 'current match',
    'on line': 'on line',
    'replaced match on line $': 'replaced match on line $',
    'replaced $ matches': 'replaced $ matches',
    'Go to line': 'Go to line',
    go: 'go',
    'folded code': 'folded code',
    unfold: 'unfold',
    to: 'to',
    Completions: 'Completions',
    Diagnostics: 'Diagnostics',
    'No diagnostics': 'No diagnostics',
    'Control character': 'Control character',
    'Selection deleted': 'Selection deleted',
    '$ unchanged lines': '$ unchanged lines',
  },
};

export type Words = typeof english;
export const words = catalogue(english, (chinese) => chinese.editor);
