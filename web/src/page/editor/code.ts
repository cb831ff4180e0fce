/**
 * CodeMirror, in a chunk of its own: the page is there before it.
 *
 * Each editor lives in a shadow root. CodeMirror adds its styles at run time, and only there it does so through
 * constructed style sheets, which the content security policy allows without 'unsafe-inline'. Colours come from the
 * page's custom properties, which reach into shadow roots.
 */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
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
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { CodeEditor, CodeOptions, Language } from './code-types';
import { blocks, type FoldRange } from './fold-lines';

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

function languageOf(language: Language): Extension {
  return language === 'json' ? json() : language === 'yaml' ? yaml() : [];
}

export function createEditor(host: HTMLElement, options: CodeOptions): CodeEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const frame = document.createElement('div');
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(':host{display:block;height:100%}div.frame{height:100%}');
  root.adoptedStyleSheets = [sheet];
  frame.className = 'frame';
  root.replaceChildren(frame);

  const language = new Compartment();
  const onChange = EditorView.updateListener.of((update) => {
    if (update.docChanged) options.onChange?.(update.state.doc.toString());
  });
  const own: Extension = options.readOnly
    ? [EditorState.readOnly.of(true)]
    : [history(), indentOnInput(), keymap.of([...historyKeymap, indentWithTab]), onChange];
  let folds: ReadonlyMap<number, FoldRange> = new Map();
  const stateOf = (text: string, named: Language) => {
    folds = options.readOnly && named === 'json' ? blocks(text.split('\n')) : new Map();
    return EditorState.create({
      doc: text,
      extensions: [
        foldService.of(({ doc }, from) => {
          const range = folds.get(doc.lineAt(from).number);
          return range ? positions(doc, range) : null;
        }),
        lineNumbers(),
        codeFolding({ placeholderText: '\u2026' }),
        foldGutter({ markerDOM: foldMark }),
        drawSelection(),
        bracketMatching(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        indentUnit.of('  '),
        own,
        // Escape leaves an editor whose Tab indents, and Ctrl Enter belongs to the console.
        keymap.of([
          { key: 'Mod-Enter', run: () => true },
          ...defaultKeymap,
          ...searchKeymap,
          ...foldKeymap,
        ]),
        EditorView.contentAttributes.of({ 'aria-label': options.label, tabindex: '0' }),
        syntaxHighlighting(colours),
        language.of(languageOf(named)),
        theme,
      ],
    });
  };
  const view = new EditorView({
    state: stateOf(options.text, options.language),
    parent: frame,
    root,
  });
  foldNoise(view);

  return {
    setText(text, named) {
      if (options.readOnly) {
        view.setState(stateOf(text, named));
        foldNoise(view);
        view.scrollDOM.scrollTop = 0;
        return;
      }
      if (view.state.doc.toString() !== text) {
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      }
      view.dispatch({ effects: language.reconfigure(languageOf(named)) });
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };

  /** managedFields is long and rarely what one looks for: an answer opens with it folded. */
  function foldNoise(target: EditorView): void {
    const { doc } = target.state;
    const effects = [...folds.values()]
      .filter(({ first }) => doc.line(first).text.trim() === '"managedFields": [')
      .slice(0, MOST_FOLDED)
      .map((range) => foldEffect.of(positions(doc, range)));
    if (effects.length > 0) target.dispatch({ effects });
  }
}

/** A list of thousands is opened with this many of its objects tidied; folding all would take a while. */
const MOST_FOLDED = 500;

/** From the end of the first line to the closing bracket. */
function positions(doc: Text, { first, last, tail }: FoldRange): { from: number; to: number } {
  return { from: doc.line(first).to, to: doc.line(last).to - tail };
}
