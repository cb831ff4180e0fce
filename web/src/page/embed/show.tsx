import { followClock } from '../control/clock';
import { shareIdentity } from '../control/terminal-identity';
import { offerDeveloper } from '../developer';
import { openCluster, untilReady } from '../engine/cluster';
import { followFirstMoments } from '../engine/first-moments';
import { draw } from '../frame/draw';
import { Page } from '../frame/page/Page';
import { openLanguage } from '../language/language';
import { followLog } from '../requests/log';
import { openFrame } from './frame';
import { isEmbedPane, Panes } from './Panes';

/**
 * The page of embed.html: an engine for the page that frames it, and the workbench, some of its panes, or an empty
 * document. To be called once.
 *
 *   embed.html                            the workbench, with an engine that begins at once
 *   embed.html?panes=terminal,picture     these panes
 *   embed.html?panes=lesson,terminal#/lesson/read/watch/3
 *                                         a lesson, in the cluster of this frame
 *   embed.html?panes=none&engine=asked    nothing, and an engine when the framing page connects
 *   ?theme= ?lang= ?cluster= ?bundle=     as docs/embed.md says
 */
export async function showEmbedded(): Promise<void> {
  const query = new URLSearchParams(location.search);
  const frame = openFrame(query);
  if (query.get('panes') === 'none') return;
  openCluster({
    find: ({ onLink, onBroken }) => {
      frame.follow({ onLink: (link) => onLink(link, 'alone'), onBroken });
      return frame;
    },
    serviceWorker: false,
  });
  followFirstMoments();
  offerDeveloper();
  followLog();
  shareIdentity();
  followClock();
  if (document.documentElement.dataset.cluster)
    void import('../control/settings/address').then(({ followAddress }) => followAddress());
  if (query.has('bundle')) void tellOfBundle();
  await openLanguage();
  const names = query.get('panes') ?? '';
  const panes = names.split(',').filter(isEmbedPane);
  document.documentElement.dataset.panes = panes.join(',');
  draw(panes.length > 0 ? <Panes panes={panes} hasBar={!frame.isAsked} /> : <Page />);
}

async function tellOfBundle(): Promise<void> {
  const { tellOpened } = await import('../control/clusters/opened');
  await untilReady(new AbortController().signal).then(tellOpened, () => undefined); // the frame says why it cannot be
}
