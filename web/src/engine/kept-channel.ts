import { nameIn } from '../client/folder';
import type { OfKept } from '../protocol';
import type { Kept } from './kept';

/**
 * Where pages reach the engine workers of clusters that they are not in.
 *
 * @param site path of the site
 */
export function keptChannel(site: string): BroadcastChannel {
  return new BroadcastChannel(nameIn(site, 'kubetab-kept'));
}

/**
 * In an engine worker: does what pages ask of what it keeps.
 *
 * @param site path of the site
 * @param folder of its cluster
 * @param stop ends the engine, so that nothing more comes to be kept
 */
export function answerPages(kept: Kept, site: string, folder: string, stop: () => void): void {
  const channel = keptChannel(site);
  channel.onmessage = ({ data }: MessageEvent<OfKept>) => {
    switch (data.type) {
      case 'end':
        if (data.folder !== folder) return;
        stop();
        void kept.flush().then(() => self.close());
        return;
      case 'flush':
        if (data.folder !== folder) return;
        void kept.flush().then(() => {
          channel.postMessage({ type: 'flushed', nonce: data.nonce } satisfies OfKept);
        });
        return;
      case 'has-room':
        kept.hasRoom();
        return;
      case 'flushed':
        return;
      default:
        data satisfies never;
    }
  };
}
