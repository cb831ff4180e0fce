import { Icon } from '../frame/icons';
import { lazily } from '../frame/Lazy';
import { arrange, layout, maximised, toggleMaximised } from '../frame/layout';
import { route } from '../frame/route';
import { bytes, duration } from '../parts/format';
import { verbClass } from '../parts/verbs';
import { words } from '../words';
import { latest, logMissing } from './log';
import { isPart, maker } from './maker';
import { verbOf } from './verb';

const Inspector = lazily(() => import('./Inspector').then(({ Inspector }) => Inspector));

/** One line that is always there - the last request as it happens - and, opened, every request. */
export function RequestsDrawer() {
  const { drawerOpen, drawer } = layout.value;
  const onPhone = route.value.view === 'requests';
  const open = drawerOpen || onPhone;
  const full = maximised.value === 'drawer';
  return (
    <section
      class={`drawer ${open ? 'is-open' : ''} ${full ? 'is-full' : ''}`}
      aria-label={words.strip.region}
      style={open && !full ? { height: `${drawer}px` } : undefined}
    >
      {open && !full && <DrawerEdge />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the double click has a button that does the same */}
      <div
        class="strip"
        onDblClick={(event) => {
          if ((event.target as Element).closest('button')) return;
          if (!open) arrange({ drawerOpen: true });
          toggleMaximised('drawer');
        }}
      >
        <button
          type="button"
          class="strip-open"
          aria-expanded={open}
          onClick={() => {
            arrange({ drawerOpen: !open });
            if (full) maximised.value = null;
          }}
        >
          <span class="strip-title">{words.strip.title}</span>
          <Last />
        </button>
        {open && (
          <button
            type="button"
            class="icon-button"
            aria-label={full ? words.pane.restore : words.pane.maximise}
            title={full ? words.pane.restore : words.pane.maximise}
            onClick={() => toggleMaximised('drawer')}
          >
            <Icon name={full ? 'shrink' : 'grow'} size={16} />
          </button>
        )}
        <span class="strip-arrow" aria-hidden="true">
          <Icon name={open ? 'down' : 'up'} size={16} />
        </span>
      </div>
      {open && (
        <div class="drawer-body">
          <Inspector />
        </div>
      )}
    </section>
  );
}

function Last() {
  const record = latest.value;
  if (logMissing.value) return <span class="faint">{words.strip.missing}</span>;
  if (!record) return <span class="faint">{words.strip.none}</span>;
  return (
    <span class="strip-line" key={record.id}>
      <span class={`strip-method ${verbClass(verbOf(record))}`} translate={false}>
        {record.method}
      </span>
      <span class="strip-path" translate={false}>
        {record.path}
      </span>
      {record.status !== undefined && (
        <span class={`strip-status ${record.status >= 400 ? 'is-refused' : ''}`}>
          {record.status}
        </span>
      )}
      <span class="strip-figures">
        {record.watch
          ? words.strip.stream(record.events ?? 0)
          : record.done
            ? `${duration(record.ms)}  ${bytes(record.bytes ?? 0)}`
            : words.strip.running}
      </span>
      <span class="strip-from" translate={isPart(record)}>
        {maker(record)}
      </span>
    </span>
  );
}

/** The upper edge, by which the drawer is made higher. */
function DrawerEdge() {
  const height = layout.value.drawer;
  const most = () => window.innerHeight - 120;
  const set = (px: number) => arrange({ drawer: Math.round(Math.min(Math.max(px, 120), most())) });
  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> cannot be moved; this is the window splitter of the ARIA practices
    <div
      class="splitter horizontal drawer-edge"
      role="separator"
      tabIndex={0}
      aria-label={words.pane.resize(words.strip.title)}
      aria-orientation="horizontal"
      aria-valuenow={height}
      aria-valuemin={120}
      aria-valuemax={2000}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) {
          set(window.innerHeight - event.clientY);
        }
      }}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
        event.preventDefault();
        set(height + (event.key === 'ArrowUp' ? 24 : -24));
      }}
    />
  );
}
