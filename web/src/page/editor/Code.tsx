import { useEffect, useRef, useState } from 'preact/hooks';
import type { CodeEditor, CodeOptions } from './code-types';

/** Loads CodeMirror when it is first needed; the answer is the same promise ever after. */
let chunk: Promise<typeof import('./code')> | null = null;
export function loadEditor(): Promise<typeof import('./code')> {
  chunk ??= import('./code');
  return chunk;
}

/** An editor, or a viewer when `readOnly`. Until CodeMirror is there the text is shown plain, in the same place. */
export function Code({ text, language, readOnly, label, notes, onChange }: CodeOptions) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<CodeEditor | null>(null);
  const latest = useRef({ text, language, label, notes, onChange });
  latest.current = { text, language, label, notes, onChange };
  const [loaded, setLoaded] = useState(false);

  useEffect(() => {
    let gone = false;
    void loadEditor().then(({ createEditor }) => {
      if (gone || !host.current) return;
      const { notes: first, ...rest } = latest.current;
      editor.current = createEditor(host.current, {
        ...rest,
        ...(first && { notes: first }),
        readOnly,
        onChange: (changed) => latest.current.onChange?.(changed),
      });
      setLoaded(true);
    });
    return () => {
      gone = true;
      editor.current?.destroy();
      editor.current = null;
    };
  }, [readOnly]);

  useEffect(() => editor.current?.rename(label), [label]);

  useEffect(() => editor.current?.setText(text, language, notes), [text, language, notes]);

  return (
    <div class="code" translate={false}>
      {!loaded && <pre class="code-plain">{text.slice(0, 20_000)}</pre>}
      <div class="code-host" ref={host} />
    </div>
  );
}
