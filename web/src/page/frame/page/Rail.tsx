import { isEmbedded } from '../../engine/here';
import { goToLessons, inLesson } from '../../lessons/course/home';
import { words } from '../../words';
import { Icon } from '../icons';
import { arrange, layout } from '../layout';
import { go, route, VIEWS, type View } from '../route';

const ALL: readonly View[] = ['lessons', 'cluster', 'files', 'requests', 'console', 'settings'];
/** Lessons have clusters of their own; the one of an embed is a lesson's if its address says so. */
const isOffered = (view: View) => view !== 'lessons' || !isEmbedded || inLesson;
const ORDER = ALL.filter(isOffered);

/** Lessons are the one that the tab is in, or all of them. */
function show(view: View): void {
  if (view === 'lessons') goToLessons();
  else go(view);
}

/** The views, in a column along the left edge. */
export function Rail() {
  const { drawerOpen } = layout.value;
  return (
    <nav class="rail" aria-label={words.rail.label}>
      {ORDER.map((view) => {
        const current = view === 'requests' ? drawerOpen : route.value.view === view;
        return (
          <button
            key={view}
            type="button"
            class={`rail-button rail-${view}`}
            aria-current={view !== 'requests' && current ? 'page' : undefined}
            aria-expanded={view === 'requests' ? drawerOpen : undefined}
            title={words.views[view]}
            onClick={() => {
              if (view === 'requests') arrange({ drawerOpen: !drawerOpen });
              else show(view);
            }}
          >
            <Icon name={view} size={20} />
            <span class="rail-word">{words.views[view]}</span>
          </button>
        );
      })}
    </nav>
  );
}

/** The same along the lower edge of a phone. */
export function PhoneTabs() {
  return (
    <nav class="phone-tabs" aria-label={words.rail.label}>
      {VIEWS.filter(isOffered).map((view) => (
        <button
          key={view}
          type="button"
          aria-pressed={route.value.view === view}
          onClick={() => show(view)}
        >
          <Icon name={view} />
          {words.views[view]}
        </button>
      ))}
    </nav>
  );
}
