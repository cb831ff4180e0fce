import './style/tokens.css';
import './style/base.css';
import './style/parts.css';
import './frame/page/header.css';
import './engine/engine.css';
import './control/clock.css';
import './style/popover.css';
import './style/notice.css';
import './frame/page/rail.css';
import './frame/page/frame.css';
import './frame/panes.css';
import './frame/splitter.css';
import './requests/drawer.css';
import './style/dialog.css';
import './embed/embed.css';
import { kindOf } from '../client/cluster-names';
import { followClock } from './control/clock';
import { followClusterName } from './control/clusters/cluster-name';
import { shareIdentity } from './control/terminal-identity';
import { offerDeveloper } from './developer';
import { showEmbedded } from './embed/show';
import { openCluster, ready } from './engine/cluster';
import { followFirstMoments } from './engine/first-moments';
import { clusterHere, isEmbedded } from './engine/here';
import { draw } from './frame/draw';
import { Page } from './frame/page/Page';
import { followRoute } from './frame/route';
import { openLanguage } from './language/language';
import { followLessonHere } from './lessons/course/home';
import { followLog } from './requests/log';
import { followSharedLinks } from './share/open';

// Until the page is drawn, public/early.js shows what goes wrong.
start().catch(reportError);

async function start(): Promise<void> {
  followRoute();
  followLessonHere();
  // embed.html has the same code, apart from what runs before it: chunks that were cut for two documents would cost the
  // first visit more than the few lines for a frame.
  await (isEmbedded ? showEmbedded() : openWorkbench());
}

async function openWorkbench(): Promise<void> {
  // The download is the long part: it begins before anything is drawn.
  openCluster();
  followFirstMoments();
  offerDeveloper();
  followLog();
  shareIdentity();
  followClock();
  followClusterName();
  followSharedLinks();
  // Asked for by few addresses and clusters, and not needed to draw the page.
  if (location.search || kindOf(clusterHere) === 'prepared')
    void import('./control/settings/address').then(({ followAddress }) => followAddress());

  // What is to be said of storage is said of an engine that runs.
  const stopWaiting = ready.subscribe((isReady) => {
    if (!isReady) return;
    queueMicrotask(() => stopWaiting());
    void import('./control/clusters/room').then(({ followRoom }) => followRoom());
    void import('./control/clusters/opened').then(({ tellOpened }) => tellOpened());
    void import('./control/etcd').then(({ followEtcd }) => followEtcd());
    // A file that is dropped is looked at by an engine.
    void import('./control/clusters/bundles').then(
      ({ followDroppedBundles, openFromAddress, told }) => {
        followDroppedBundles();
        told(openFromAddress());
      },
    );
  });

  // English is at hand; another language comes before the first paint, so that nothing is read twice.
  await openLanguage();
  draw(<Page />);
}
