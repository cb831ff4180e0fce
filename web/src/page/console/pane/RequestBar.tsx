import { requestInfo, verbClass } from '../../parts/verbs';
import { draft, edit, METHODS } from '../draft';
import { isUnderWay, run, stop } from '../run';
import { words } from '../words';
import { PathInput } from './PathInput';
import { sendNow } from './pane';

/** Method, path and the one button: Send, or Stop while something is under way. */
export function RequestBar() {
  const { method, path } = draft.value;
  const info = requestInfo(method, path);
  const busy = run.value !== null && isUnderWay(run.value);
  return (
    <form
      id="request"
      class="bar"
      tabIndex={-1}
      aria-label={words.request.region}
      onSubmit={(event) => {
        event.preventDefault();
        sendNow();
      }}
    >
      <select
        translate={false}
        class={`method ${verbClass(info.verb)}`}
        aria-label={words.request.method}
        value={method}
        onChange={(event) => edit({ method: event.currentTarget.value })}
      >
        {METHODS.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <PathInput onEnter={sendNow} />
      {info.resource && (
        <span class={`meaning ${verbClass(info.verb)}`} translate={false}>
          {info.verb} {info.resource}
          {info.subresource && `/${info.subresource}`}
        </span>
      )}
      {busy ? (
        <button type="button" class="button stop" onClick={stop} title={words.request.sendHint}>
          {words.request.stop}
        </button>
      ) : (
        <button type="submit" class="button primary" title={words.request.sendHint}>
          {words.request.send}
        </button>
      )}
    </form>
  );
}
