import { StreamLanguage, type StringStream } from '@codemirror/language';

const WORDS =
  /^(?:as|async|await|break|case|catch|class|const|continue|default|delete|do|else|export|extends|false|finally|for|from|function|if|import|in|instanceof|let|new|null|of|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|yield)$/;

interface State {
  /** What a text or comment over several lines ends with; null outside. */
  until: string | null;
}

/**
 * JavaScript in colours, word by word: a parser would weigh more than the rest of the script pane. Expressions within a
 * template are coloured as text.
 */
export const javascript = StreamLanguage.define<State>({
  name: 'javascript',
  startState: () => ({ until: null }),
  token(stream, state) {
    if (state.until) return inside(stream, state, state.until);
    if (stream.eatSpace()) return null;
    if (stream.match('//')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match('/*')) return inside(stream, state, '*/');
    const begun = stream.next() ?? '';
    if (begun === '`') return inside(stream, state, begun);
    if (begun === '"' || begun === "'") {
      for (let c = stream.next(); c && c !== begun; c = stream.next())
        if (c === '\\') stream.next();
      return 'string';
    }
    if (/\d/.test(begun)) {
      stream.eatWhile(/[\w.]/);
      return 'number';
    }
    if (/[\w$]/.test(begun)) {
      stream.eatWhile(/[\w$]/);
      if (WORDS.test(stream.current())) return 'keyword';
      return stream.match(/^\s*:(?!:)/, false) ? 'propertyName' : null;
    }
    return null;
  },
  languageData: { commentTokens: { line: '//', block: { open: '/*', close: '*/' } } },
});

function inside(stream: StringStream, state: State, until: string): 'comment' | 'string' {
  state.until = until;
  while (!stream.eol()) {
    if (stream.match(until)) {
      state.until = null;
      break;
    }
    if (stream.next() === '\\' && until === '`') stream.next();
  }
  return until === '`' ? 'string' : 'comment';
}
