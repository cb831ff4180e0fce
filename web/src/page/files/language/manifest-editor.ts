import type { EditorView } from '@codemirror/view';
import { createEditor } from '../../editor/code';
import type { CodeEditor, CodeOptions } from '../../editor/code-types';
import { manifestLanguage } from './language';

/** CodeMirror for the files of the workspace: what viewers have, and what knows Kubernetes. */
export function createManifestEditor(
  host: HTMLElement,
  options: CodeOptions,
): CodeEditor & { readonly view: EditorView; goTo(line: number): void } {
  const editor = createEditor(
    host,
    options,
    options.language === 'javascript' ? [] : manifestLanguage(),
  );
  return {
    ...editor,
    goTo(number) {
      const { doc } = editor.view.state;
      const line = doc.line(Math.min(Math.max(number, 1), doc.lines));
      editor.view.dispatch({ selection: { anchor: line.from }, scrollIntoView: true });
      editor.view.focus();
    },
  };
}
