import { notice } from '../../engine/cluster';
import { words } from '../../words';

/** One line for what the user should know and did not ask for. It floats: nothing moves when it comes. */
export function NoticeLine() {
  const shown = notice.value;
  return (
    <div class="notice-place" role="status">
      {shown && (
        <div class="notice">
          <p>{shown.text()}</p>
          {shown.action && (
            <button type="button" class="button" onClick={shown.action.run}>
              {shown.action.label()}
            </button>
          )}
          <button
            type="button"
            class="button quiet"
            onClick={() => {
              notice.value = null;
            }}
          >
            {words.notice.dismiss}
          </button>
        </div>
      )}
    </div>
  );
}
