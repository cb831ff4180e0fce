/**
 * CodeMirror, in a chunk of its own: the page is there before it.
 *
 * Each editor lives in a shadow root. CodeMirror adds its styles at run time, and only there it does so through
 * constructed style sheets, which the content security policy allows without 'unsafe-inline'. Colours come from the
 * page's custom properties, which reach into shadow roots.
 */
import {
  defaultKeymap,
  history,
  historyField,
  historyKeymap,
  indentWithTab,
} from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  codeFolding,
  foldEffect,
  foldGutter,
  foldKeymap,
  foldService,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  GutterMarker,
  gutter,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { effect, signal } from '@preact/signals';
import type { CodeEditor, CodeOptions, Language, LineNote } from './code-types';
import { blocks, type FoldRange } from './fold-lines';
import { javascript } from './javascript';
import { words } from './words';

const theme = EditorView.theme({
  '&': {
    height: '100%',
    fontSize: 'var(--code-size)',
    color: 'var(--text)',
    background: 'transparent',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--text)' },
  '.cm-gutters': { background: 'var(--surface)', color: 'var(--faint)', border: '0' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 4px 0 12px', minWidth: '36px' },
  '.cm-foldGutter .cm-gutterElement': {
    cursor: 'pointer',
    padding: '0 6px 0 2px',
    color: 'var(--muted)',
  },
  '.cm-line': { padding: '0 12px 0 6px' },
  '.cm-activeLine': { background: 'transparent' },
  '&.cm-focused .cm-activeLine': { background: 'var(--line-active)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    {
      background: 'var(--selection)',
    },
  '.cm-selectionMatch': { background: 'var(--match)' },
  '.cm-matchingBracket': { background: 'transparent' },
  '&.cm-focused .cm-matchingBracket': { background: 'var(--match)', outline: 'none' },
  '.cm-foldPlaceholder': {
    background: 'var(--hover)',
    border: '0',
    color: 'var(--muted)',
    borderRadius: '4px',
    padding: '0 6px',
    margin: '0 2px',
  },
  '.cm-panels': { background: 'var(--surface)', color: 'var(--text)', borderColor: 'var(--line)' },
  '.cm-panels.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-panel.cm-search': { padding: '6px 10px', fontFamily: 'var(--sans)' },
  '.cm-panel.cm-search label': { fontSize: '13px' },
  '.cm-textfield, .cm-button': {
    background: 'var(--ground)',
    color: 'var(--text)',
    border: '1px solid var(--edge)',
    borderRadius: '4px',
    fontSize: '13px',
    backgroundImage: 'none',
  },
  '.cm-notes .cm-gutterElement': { padding: '0' },
  '.cm-note': {
    display: 'block',
    width: '13ch',
    height: '100%',
    padding: '0 6px',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
    fontSize: '11px',
    borderRight: '3px solid var(--owner, transparent)',
    color: 'var(--muted)',
  },
  ...Object.fromEntries(
    Array.from({ length: 8 }, (_, i) => [`.owner-${i}`, { '--owner': `var(--owner-${i})` }]),
  ),
  '.cm-tooltip': {
    background: 'var(--ground)',
    color: 'var(--text)',
    border: '0',
    borderRadius: '6px',
    boxShadow: 'var(--float)',
    fontFamily: 'var(--sans)',
    fontSize: '13px',
    maxWidth: '460px',
  },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '240px' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--chosen)',
    color: 'var(--text)',
  },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600' },
  '.cm-completionInfo': { padding: '8px 10px', lineHeight: '1.45' },
  '.cm-hover': { padding: '8px 10px', lineHeight: '1.45', maxHeight: '320px', overflow: 'auto' },
  '.cm-hover-path': { fontFamily: 'var(--mono)', fontWeight: '600' },
  '.cm-hover-type': { color: 'var(--muted)', marginLeft: '8px' },
  '.cm-hover-text': { margin: '4px 0 0', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' },
  '.cm-lint-marker': { width: '0.9em', height: '0.9em' },
  '.cm-lint-marker-error': { content: 'none', background: 'var(--bad)' },
  '.cm-lint-marker-warning': { content: 'none', background: 'var(--warn)', borderRadius: '50%' },
  '.cm-diagnostic': { padding: '4px 10px', borderLeft: '3px solid transparent' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--warn)',
    textUnderlineOffset: '3px',
  },
  '.cm-searchMatch': { background: 'var(--match)' },
  '.cm-searchMatch.cm-searchMatch-selected': { background: 'var(--selection)' },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-key)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: tags.content, color: 'var(--code-string)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: [tags.bool, tags.null, tags.keyword], color: 'var(--code-word)' },
  { tag: [tags.comment, tags.meta], color: 'var(--muted)' },
  {
    tag: [tags.separator, tags.punctuation, tags.brace, tags.squareBracket],
    color: 'var(--muted)',
  },
  { tag: tags.invalid, color: 'var(--bad)' },
]);

/** Marks that work in every face; CodeMirror's own arrows are missing from some. */
function foldMark(open: boolean): HTMLElement {
  const mark = document.createElement('span');
  mark.textContent = open ? '\u25be' : '\u25b8';
  return mark;
}

class NoteMarker extends GutterMarker {
  constructor(readonly note: LineNote) {
    super();
  }
  override eq(other: NoteMarker): boolean {
    return other.note.text === this.note.text && other.note.className === this.note.className;
  }
  override toDOM(): Node {
    const mark = document.createElement('span');
    mark.className = `cm-note ${this.note.className}`;
    mark.textContent = this.note.text;
    mark.title = this.note.text;
    return mark;
  }
}

function notesGutter(notes: ReadonlyMap<number, LineNote>): Extension {
  return gutter({
    class: 'cm-notes',
    lineMarker(view, line) {
      const note = notes.get(view.state.doc.lineAt(line.from).number);
      return note ? new NoteMarker(note) : null;
    },
  });
}

function languageOf(language: Language): Extension {
  switch (language) {
    case 'json':
      return json();
    case 'yaml':
      return yaml();
    case 'javascript':
      return javascript;
    default:
      return [];
  }
}

/** What is kept of an editor that is left, beside text and selection. */
const KEPT = { history: historyField };

/** The part of the host that CodeMirror draws in, with style sheets of its own. */
function frameIn(host: HTMLElement): { root: ShadowRoot; frame: HTMLElement } {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const frame = document.createElement('div');
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(':host{display:block;height:100%}div.frame{height:100%}');
  root.adoptedStyleSheets = [sheet];
  frame.className = 'frame';
  root.replaceChildren(frame);
  return { root, frame };
}

/** What screen readers say, in the language that is shown. */
const spoken = (label: string): Extension => [
  EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
  EditorState.phrases.of(words.phrases),
];

const LOOKS: Extension = [
  lineNumbers(),
  codeFolding({ placeholderText: '\u2026' }),
  foldGutter({ markerDOM: foldMark }),
  drawSelection(),
  bracketMatching(),
  highlightActiveLine(),
  highlightSelectionMatches(),
  indentUnit.of('  '),
];

/** Escape leaves an editor whose Tab indents, and Ctrl Enter belongs to the console. */
const KEYS: Extension = keymap.of([
  { key: 'Mod-Enter', run: () => true },
  ...defaultKeymap,
  ...searchKeymap,
  ...foldKeymap,
]);

/** @param extra further extensions: what only the editor of files needs is not loaded with every viewer */
export function createEditor(
  host: HTMLElement,
  options: CodeOptions,
  extra: Extension = [],
): CodeEditor & { readonly view: EditorView } {
  const { root, frame } = frameIn(host);
  const language = new Compartment();
  const speech = new Compartment();
  const name = signal(options.label);
  // What was typed comes back as the text to show, and by then more may have been typed: it must not undo that.
  const typed: string[] = [];
  let setting = false;
  const onChange = EditorView.updateListener.of((update) => {
    if (!update.docChanged || setting) return;
    const text = update.state.doc.toString();
    typed.push(text);
    options.onChange?.(text);
  });
  const own: Extension = options.readOnly
    ? [EditorState.readOnly.of(true)]
    : [history(), indentOnInput(), keymap.of([...historyKeymap, indentWithTab]), onChange];
  let folds: ReadonlyMap<number, FoldRange> = new Map();
  const configOf = (text: string, named: Language, notes?: ReadonlyMap<number, LineNote>) => {
    folds = options.readOnly && named === 'json' ? blocks(text.split('\n')) : new Map();
    return {
      doc: text,
      extensions: [
        foldService.of(({ doc }, from) => {
          const range = folds.get(doc.lineAt(from).number);
          return range ? positions(doc, range) : null;
        }),
        notes?.size ? notesGutter(notes) : [],
        LOOKS,
        own,
        KEYS,
        speech.of(spoken(name.peek())),
        syntaxHighlighting(colours),
        language.of(languageOf(named)),
        theme,
        extra,
      ],
    };
  };
  const first = configOf(options.text, options.language, options.notes);
  const view = new EditorView({
    state: options.earlier
      ? EditorState.fromJSON(options.earlier, first, KEPT)
      : EditorState.create(first),
    parent: frame,
    root,
  });
  // Somebody else may have changed the text since it was left: that can be undone, too.
  if (options.earlier) replaceText(options.text);
  foldNoise(view, folds);
  // Drawn anew in another language, with its history and its cursor.
  const stop = effect(() => {
    view.dispatch({ effects: speech.reconfigure(spoken(name.value)) });
  });

  let noted = options.notes;
  return {
    view,
    setText(text, named, notes) {
      if (options.readOnly) {
        const before = view.state.doc.toString();
        if (before === text && notes === noted) return;
        noted = notes;
        const top = view.scrollDOM.scrollTop;
        view.setState(EditorState.create(configOf(text, named, notes)));
        foldNoise(view, folds);
        // What is shown live keeps its place; another text begins at its beginning.
        view.scrollDOM.scrollTop = text.slice(0, 80) === before.slice(0, 80) ? top : 0;
        return;
      }
      if (typed.splice(0, typed.lastIndexOf(text) + 1).length > 0) return;
      replaceText(text);
      view.dispatch({ effects: language.reconfigure(languageOf(named)) });
    },
    rename(label) {
      name.value = label;
    },
    focus: () => view.focus(),
    leave: () => view.state.toJSON(KEPT),
    destroy() {
      stop();
      view.destroy();
    },
  };

  function replaceText(text: string): void {
    const changes = difference(view.state.doc.toString(), text);
    if (!changes) return;
    setting = true;
    view.dispatch({ changes });
    setting = false;
  }
}

/** What makes one text the other, in one piece, so that a cursor elsewhere stays where it is; null where they are the same. */
function difference(now: string, wanted: string) {
  const text = wanted.replaceAll(/\r\n?/g, '\n'); // as CodeMirror has it
  if (now === text) return null;
  const most = Math.min(now.length, text.length);
  let from = 0;
  while (from < most && now[from] === text[from]) from++;
  let same = 0;
  while (same < most - from && now.at(-1 - same) === text.at(-1 - same)) same++;
  return { from, to: now.length - same, insert: text.slice(from, text.length - same) };
}

/** managedFields is long and rarely what one looks for: an answer opens with it folded. */
function foldNoise(view: EditorView, folds: ReadonlyMap<number, FoldRange>): void {
  const { doc } = view.state;
  const inYaml = folds.size === 0 ? yamlNoise(doc) : null;
  if (inYaml) view.dispatch({ effects: foldEffect.of(inYaml) });
  const effects = [...folds.values()]
    .filter(({ first }) => doc.line(first).text.trim() === '"managedFields": [')
    .slice(0, MOST_FOLDED)
    .map((range) => foldEffect.of(positions(doc, range)));
  if (effects.length > 0) view.dispatch({ effects });
}

/** managedFields of an object in YAML: the lines below the key that are indented deeper, or begin with its dash. */
function yamlNoise(doc: Text): { from: number; to: number } | null {
  for (let i = 1; i <= Math.min(doc.lines, 400); i++) {
    const line = doc.line(i);
    const found = /^( +)managedFields:$/.exec(line.text);
    if (!found) continue;
    const indent = found[1] as string;
    let last = i;
    while (last < doc.lines && /^(?: {2,}|- )/.test(doc.line(last + 1).text.slice(indent.length))) {
      if (!doc.line(last + 1).text.startsWith(indent)) break;
      last++;
    }
    return last > i ? { from: line.to, to: doc.line(last).to } : null;
  }
  return null;
}

/** A list of thousands is opened with this many of its objects tidied; folding all would take a while. */
const MOST_FOLDED = 500;

/** From the end of the first line to the closing bracket. */
function positions(doc: Text, { first, last, tail }: FoldRange): { from: number; to: number } {
  return { from: doc.line(first).to, to: doc.line(last).to - tail };
}
