import { effect, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { once } from '../../parts/once';
import { languageOf } from '../language/language-of';
import type { createManifestEditor } from '../language/manifest-editor';
import { words } from '../words';
import { files, textOf, writeFile } from '../workspace/workspace';

type Editor = ReturnType<typeof createManifestEditor>;

/** Set by the editor that is shown: where a problem stands is a click away. */
let shown: Editor | null = null;

/** Puts the cursor of the editor that is shown at the beginning of a line, counted from 1. */
export function goToLine(line: number): void {
  shown?.goTo(line);
}

/**
 * Editors of files that were left, by path: one of them is shown at a time, and after coming back to a file the
 * visitor can still undo changes to it.
 */
const left = new Map<string, unknown>();

/** A new file of an old name begins anew: what was left of the old one goes with it. */
const forgetRemoved = once(() => {
  files.subscribe((list) => {
    for (const path of left.keys()) if (!list.some((file) => file.path === path)) left.delete(path);
  });
});

/** The text of one file. Until CodeMirror is there it is shown plain, in the same place. */
export function FileText({ path, text }: { path: string; text: string }) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const loaded = useSignal(false);
  useEffect(() => {
    forgetRemoved();
    let gone = false;
    void import('../language/manifest-editor').then(({ createManifestEditor: create }) => {
      if (gone || !host.current) return;
      editor.current = create(host.current, {
        text: textOf(path) ?? '',
        language: languageOf(path),
        readOnly: false,
        label: words.label(path),
        onChange: (changed) => writeFile(path, changed),
        earlier: left.get(path),
      });
      shown = editor.current;
      loaded.value = true;
    });
    return () => {
      gone = true;
      if (shown === editor.current) shown = null;
      const isThere = files.value.some((file) => file.path === path);
      if (editor.current && isThere) left.set(path, editor.current.leave());
      editor.current?.destroy();
      editor.current = null;
    };
  }, [path]);
  const label = words.label(path);
  useEffect(() => editor.current?.rename(label), [label]);
  // At once, and not with what is drawn next: what is typed until then would be typed into the text before.
  useEffect(
    () =>
      effect(() => {
        const now = textOf(path);
        if (now !== undefined) editor.current?.setText(now, languageOf(path));
      }),
    [path],
  );
  return (
    <div class="code" translate={false}>
      {!loaded.value && <pre class="code-plain">{text.slice(0, 20_000)}</pre>}
      <div class="code-host" ref={host} />
    </div>
  );
}
