import { unifiedMergeView } from '@codemirror/merge';
import { EditorView } from '@codemirror/view';
import { createEditor } from '../../editor/code';

const theme = EditorView.theme({
  '.cm-changedLine': { background: 'var(--good-ground)' },
  '.cm-deletedChunk': { background: 'var(--bad-ground)', paddingLeft: '6px' },
  '.cm-changedText': { background: 'color-mix(in srgb, var(--good) 24%, transparent)' },
  '.cm-deletedChunk .cm-deletedText': {
    background: 'color-mix(in srgb, var(--bad) 24%, transparent)',
  },
  '.cm-changeGutter': { width: '3px' },
  '.cm-changedLineGutter': { background: 'var(--good)' },
  '.cm-deletedLineGutter': { background: 'var(--bad)' },
  '.cm-collapsedLines': {
    background: 'var(--surface)',
    color: 'var(--muted)',
    padding: '2px 12px',
    backgroundImage: 'none',
  },
});

/** What would change, in one column: what goes in red, what comes in green, what stays folded. */
export function showDiff(
  host: HTMLElement,
  live: string,
  wanted: string,
  label: string,
): () => void {
  const editor = createEditor(host, { text: wanted, language: 'yaml', readOnly: true, label }, [
    unifiedMergeView({
      original: live,
      mergeControls: false,
      collapseUnchanged: { margin: 2, minSize: 5 },
    }),
    theme,
  ]);
  return () => editor.destroy();
}
