import { nameIn } from '../../client/folder';
import type { JournalMessage } from '../../protocol';
import type { StoredJournal } from './stored-journal';

/**
 * Where pages reach the engine workers of clusters that they are not in.
 *
 * @param site path of the site
 */
export function journalChannel(site: string): BroadcastChannel {
  return new BroadcastChannel(nameIn(site, 'kubetab-kept'));
}

/**
 * In an engine worker: does what pages ask of what it keeps.
 *
 * @param site path of the site
 * @param folder of its cluster
 * @param stop ends the engine, so that nothing more comes to be kept
 */
export function answerPages(
  journal: StoredJournal,
  site: string,
  folder: string,
  stop: () => void,
): void {
  const channel = journalChannel(site);
  channel.onmessage = ({ data }: MessageEvent<JournalMessage>) => {
    switch (data.type) {
      case 'end':
        if (data.folder !== folder) return;
        stop();
        void journal.flush().then(() => self.close());
        return;
      case 'flush':
        if (data.folder !== folder) return;
        void journal.flush().then(() => {
          channel.postMessage({ type: 'flushed', nonce: data.nonce } satisfies JournalMessage);
        });
        return;
      case 'has-room':
        journal.hasRoom();
        return;
      case 'flushed':
        return;
      default:
        data satisfies never;
    }
  };
}
