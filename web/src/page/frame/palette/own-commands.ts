import { engineClock, SPEEDS, setClock } from '../../control/clock';
import { chooseBundle, saveBundle, saveManifests, told } from '../../control/clusters/bundles';
import { clusters, duplicate, reset, shownTitle } from '../../control/clusters/clusters';
import { CLUSTERS_PATH } from '../../control/clusters/room';
import { setEtcd } from '../../control/etcd';
import { ADMIN, EDITOR, type Identity, identity, VIEWER } from '../../control/identity';
import { words as controlWords } from '../../control/words';
import { etcdStopped, notice, restartEngine } from '../../engine/cluster';
import { clusterHere, switchTo } from '../../engine/here';
import { LANGUAGES, type Language, language } from '../../language/current';
import { changeLanguage } from '../../language/LanguageMenu';
import { goToLessons } from '../../lessons/course/home';
import { openShare } from '../../share/open';
import { words } from '../../words';
import { focusTerminal } from '../focus-terminal';
import { arrange, layout } from '../layout';
import type { PaletteCommand } from '../palette-commands';
import { go, VIEWS } from '../route';
import { nextTheme } from '../theme';

/** The places of the page, and what can be done from anywhere in it. */
export function ownCommands(): readonly PaletteCommand[] {
  const { palette, identity: names } = words;
  const as = (who: Identity, name: string): PaletteCommand => ({
    id: `as ${who.name}`,
    group: palette.identity,
    label: palette.actAs(name),
    run: () => {
      identity.value = who;
    },
  });
  return [
    ...VIEWS.map((view) => ({
      id: `view ${view}`,
      group: palette.view,
      label: words.views[view],
      keywords: view,
      weight: 7,
      run: () => {
        if (view === 'requests') arrange({ drawerOpen: !layout.value.drawerOpen });
        else if (view === 'terminal') focusTerminal();
        else if (view === 'lessons') goToLessons();
        else go(view);
      },
    })),
    as(ADMIN, names.admin),
    as(EDITOR, names.editor),
    as(VIEWER, names.viewer),
    ...clockCommands(),
    {
      id: 'share',
      group: palette.page,
      label: words.share.open,
      keywords: 'share link',
      run: openShare,
    },
    { id: 'theme', group: palette.page, label: palette.theme, keywords: 'theme', run: nextTheme },
    ...(Object.entries(LANGUAGES) as [Language, string][])
      .filter(([id]) => id !== language.value)
      .map(([id, name]) => ({
        id: `language ${id}`,
        group: palette.language,
        names: 'label' as const,
        label: name,
        // Whoever looks for the other language may not read this one.
        keywords: `${id} language chinese english zhongwen 语言 中文 英文`,
        run: () => void changeLanguage(id),
      })),
    ...namedClusters(),
    ...etcdCommands(),
    {
      id: 'restart',
      group: palette.engine,
      label: words.details.restart,
      keywords: 'restart reset',
      run: () => {
        if (confirm(words.details.restartAsk)) restartEngine('none');
      },
    },
  ];
}

function namedClusters(): readonly PaletteCommand[] {
  const text = controlWords.clusters;
  const group = text.title;
  const attempt = (doing: Promise<unknown>) => {
    doing.catch((error: unknown) => {
      notice.value = { text: () => (error instanceof Error ? error.message : String(error)) };
    });
  };
  const here = shownTitle(clusterHere);
  return [
    ...clusters.value
      .filter(({ isHere }) => !isHere)
      .map(({ name, title }) => ({
        id: `cluster ${name}`,
        group,
        label: text.switchTo(title),
        keywords: `cluster switch ${name}`,
        run: () => switchTo(name),
      })),
    {
      id: 'clusters',
      group,
      label: text.all,
      keywords: 'clusters switch new delete rename',
      run: () => go('settings', CLUSTERS_PATH),
    },
    {
      id: 'cluster duplicate',
      group,
      label: text.duplicateHere,
      keywords: 'cluster duplicate copy',
      run: () =>
        attempt(
          duplicate(clusterHere, text.copyOf(here)).then(() => go('settings', CLUSTERS_PATH)),
        ),
    },
    {
      id: 'cluster save',
      group,
      label: controlWords.bundles.saveHere,
      keywords: 'cluster save bundle file download export kubetab',
      run: () => told(saveBundle(true)),
    },
    {
      id: 'cluster manifests',
      group,
      label: controlWords.bundles.manifestsHere,
      keywords: 'cluster save manifests yaml zip download export kubectl apply',
      run: () => told(saveManifests(true)),
    },
    {
      id: 'cluster open',
      group,
      label: controlWords.bundles.openHere,
      keywords: 'cluster open bundle file upload import kubetab',
      run: chooseBundle,
    },
    {
      id: 'cluster reset',
      group,
      label: text.resetHere,
      keywords: 'cluster reset empty anew',
      run: () => {
        if (confirm(text.resetAsk(here))) attempt(reset(clusterHere));
      },
    },
  ];
}

function etcdCommands(): readonly PaletteCommand[] {
  const stopped = etcdStopped.value;
  if (stopped === null) return [];
  const { start, stop } = words.details.etcd;
  return [
    {
      id: 'etcd',
      group: words.palette.engine,
      label: stopped ? start : stop,
      keywords: 'etcd stop start readyz',
      run: () => setEtcd(!stopped),
    },
  ];
}

function clockCommands(): readonly PaletteCommand[] {
  const state = engineClock.value;
  if (!state) return [];
  const group = words.palette.clock;
  const set = (change: Parameters<typeof setClock>[0]) => () => {
    setClock(change).catch((error: unknown) => {
      notice.value = { text: () => (error instanceof Error ? error.message : String(error)) };
    });
  };
  return [
    {
      id: 'clock',
      group,
      label: state.paused ? words.clock.resume : words.clock.pause,
      keywords: 'clock pause resume',
      run: set({ paused: !state.paused }),
    },
    ...SPEEDS.filter((speed) => speed !== state.speed).map((speed) => ({
      id: `clock ${speed}`,
      group,
      label: speed === 1 ? words.clock.realTime : words.clock.speed(speed),
      keywords: 'clock speed',
      run: set({ speed }),
    })),
  ];
}
