import { useEffect, useRef } from 'preact/hooks';
import { type Notice, notice } from '../../engine/cluster';
import { words } from '../../words';
import { Boundary } from '../Boundary';

/** How long a notice that passes can be read at least, in ms. */
const READ = 3000;

/** One line for what the user should know and did not ask for. It has a place of its own: it covers nothing. */
export function NoticeLine() {
  const shown = notice.value;
  return (
    <div class="notice-place" role="status">
      {shown && (
        <Boundary key={shown}>
          <Line {...shown} />
        </Boundary>
      )}
    </div>
  );
}

function Line({ text, action, passes }: Notice) {
  const line = useRef<HTMLDivElement>(null);
  const dismiss = () => {
    notice.value = null;
  };
  useEffect(() => {
    if (!passes) return;
    const since = performance.now();
    const goOn = (event: Event) => {
      if (event.timeStamp - since < READ || line.current?.contains(event.target as Node)) return;
      // With these one comes to its buttons.
      if (event instanceof KeyboardEvent && /^(Tab|Shift)$/.test(event.key)) return;
      dismiss();
    };
    document.addEventListener('keydown', goOn, true);
    // Not when the pointer is pressed: what is below it could move before it is released.
    document.addEventListener('click', goOn, true);
    return () => {
      document.removeEventListener('keydown', goOn, true);
      document.removeEventListener('click', goOn, true);
    };
  }, []);
  return (
    <div class="notice" ref={line}>
      <p>{text()}</p>
      {action && (
        <button type="button" class="button small" onClick={action.run}>
          {action.label()}
        </button>
      )}
      <button type="button" class="button small quiet" onClick={dismiss}>
        {words.notice.dismiss}
      </button>
    </div>
  );
}
