import { useEffect, useRef, useState } from 'preact/hooks';
import { showEditor } from '../frame/show-editor';
import { theme } from '../frame/theme';
import { KeyRow } from './KeyRow';
import type { Screen } from './screen';
import { Session } from './shell';
import { words } from './words';
import './terminal.css';

/** Loads xterm.js when it is first needed; the answer is the same promise ever after. */
let chunk: Promise<typeof import('./screen')> | null = null;
export function loadTerminal(): Promise<typeof import('./screen')> {
  chunk ??= import('./screen');
  return chunk;
}

/** A terminal that fills its place. There is one at a time. */
export function Terminal() {
  const host = useRef<HTMLDivElement>(null);
  const screen = useRef<Screen | null>(null);
  const [loaded, setLoaded] = useState(false);

  useEffect(() => {
    let session: Session | null = null;
    let gone = false;
    void loadTerminal().then(({ createScreen }) => {
      if (gone || !host.current) return;
      screen.current = createScreen(host.current, {
        onKeys: (keys) => session?.type(keys),
        onResize: () => session?.resize(),
        onMessage: (message) => {
          session?.message(message);
          // Else the command waits for what nobody sees.
          if (message.kind === 'edit') showEditor();
        },
      });
      session = new Session(screen.current);
      setLoaded(true);
    });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const restyle = () => screen.current?.restyle();
    dark.addEventListener('change', restyle);
    return () => {
      gone = true;
      dark.removeEventListener('change', restyle);
      session?.end();
      screen.current?.destroy();
      screen.current = null;
    };
  }, []);

  const { label } = words;
  useEffect(() => screen.current?.rename(label), [label, loaded]);

  // The attribute that the colours hang on is set after the signal.
  useEffect(() => theme.subscribe(() => queueMicrotask(() => screen.current?.restyle())), []);

  return (
    <section class="terminal" aria-label={words.title}>
      {!loaded && <p class="terminal-loading">{words.loading}</p>}
      <div class="terminal-screen" translate={false} ref={host} />
      <KeyRow />
    </section>
  );
}
