import { useSignal } from '@preact/signals';
import { Code } from '../../editor/Code';
import { clock } from '../../parts/format';
import { prettyJson } from '../../parts/pretty';
import type { WatchEvent, WatchView } from '../watch-log';
import { words } from '../words';

const TYPES = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'];

/** The events of a watch, newest first, each with its object behind it. */
export function WatchEvents({ watch }: { watch: WatchView }) {
  const opened = useSignal(0);
  const types = [...new Set([...TYPES.slice(0, 3), ...Object.keys(watch.counts)])];
  return (
    <div class="watch">
      <ul class="counts" aria-label={words.watch.counts}>
        {types.map((type) => (
          <li key={type} class={eventClass(type)}>
            <span class="event-type" translate={false}>
              {type}
            </span>{' '}
            {watch.counts[type] ?? 0}
          </li>
        ))}
        <li class="faint">{words.watch.newest}</li>
      </ul>
      {watch.total === 0 && <p class="empty">{words.watch.none}</p>}
      <ol class="events" reversed>
        {watch.events.map((event) => (
          <EventRow
            key={event.seq}
            event={event}
            open={opened.value === event.seq}
            onToggle={() => {
              opened.value = opened.value === event.seq ? 0 : event.seq;
            }}
          />
        ))}
      </ol>
      {watch.total > watch.events.length && (
        <p class="empty">{words.watch.dropped(watch.total - watch.events.length)}</p>
      )}
    </div>
  );
}

interface EventRowProps {
  readonly event: WatchEvent;
  readonly open: boolean;
  readonly onToggle: () => void;
}

function EventRow({ event, open, onToggle }: EventRowProps) {
  const place = event.namespace ? `${event.namespace}/` : '';
  return (
    <li class={`event ${eventClass(event.type)}`}>
      <button
        type="button"
        class="event-line"
        translate={false}
        aria-expanded={open}
        onClick={onToggle}
      >
        <span class="event-time">{clock(event.at)}</span>
        <span class="event-type">{event.type}</span>
        <span class="event-kind">{event.kind}</span>
        <span class="event-name">
          {event.message || (
            <>
              <span class="faint">{place}</span>
              {event.name}
            </>
          )}
        </span>
        <span class="event-rv">{event.resourceVersion}</span>
      </button>
      {open && (
        <div class="event-object">
          <Code text={prettyJson(event.text)} language="json" readOnly label={words.watch.expand} />
        </div>
      )}
    </li>
  );
}

function eventClass(type: string): string {
  return TYPES.includes(type) ? `event-${type.toLowerCase()}` : 'event-other';
}
