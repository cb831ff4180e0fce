import './script.css';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { goToLine } from '../files/pane/FileText';
import { activePath } from '../files/workspace/workspace';
import { Icon } from '../frame/icons';
import { clearRun, runs } from './runs';
import { words } from './words';

/** What a script has printed, as long as it has been run. */
export function ScriptOutput() {
  const path = activePath.value;
  const run = runs.value.get(path);
  const body = useRef<HTMLDivElement>(null);
  /** Whoever has scrolled up reads, and is left there. */
  const follows = useRef(true);
  useLayoutEffect(() => {
    const { current } = body;
    if (current && follows.current) current.scrollTop = current.scrollHeight;
  }, [run?.lines]);
  if (!run) return null;
  const label = words.output(path);
  return (
    <section class="outcome script-output" aria-label={label}>
      <button
        type="button"
        class="icon-button outcome-close"
        aria-label={words.clear}
        title={words.clear}
        onClick={() => clearRun(path)}
      >
        <Icon name="close" size={13} />
      </button>
      <div
        class="outcome-body"
        ref={body}
        role="log"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          follows.current = scrollTop + clientHeight >= scrollHeight - 8;
        }}
      >
        {run.left > 0 && <p class="faint">{words.left(run.left)}</p>}
        {run.lines.length === 0 && <p class="faint">{words.nothing}</p>}
        {run.lines.map(({ number, level, text, line }) => (
          <div key={number} class={`script-line is-${level}`}>
            {line > 0 && (
              <button type="button" class="link" onClick={() => goToLine(line)}>
                {words.atLine(line, path)}
              </button>
            )}
            <pre translate={false}>{text}</pre>
          </div>
        ))}
      </div>
    </section>
  );
}
