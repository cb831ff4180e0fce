import { counted, number } from '../language/figures';
import { catalogue } from '../language/language';

export const english = {
  title: 'Share',
  copy: 'Copy',
  copied: 'Copied',
  inMine: 'Links open in English, whatever language the reader has',
  view: {
    title: 'What you see',
    link: 'Link to this view',
    about: 'Opens this view, in the cluster that the reader has.',
    with: (what: readonly string[]) =>
      `Opens this view, in a cluster that begins with: ${what.join(', ')}.`,
    settings: 'the settings of this engine',
    without: 'Objects that you made do not travel with it.',
  },
  files: {
    title: 'Files of the editor',
    link: 'Link with files',
    about:
      'The files are in the link itself, and no server gets them. The reader is asked before they are added, and nothing is applied.',
    none: 'Choose a file.',
    length: (characters: number) => `${counted(characters, 'character', 'characters')}`,
    long: (characters: number, most: number) =>
      `This link would have ${number(characters)} characters, and mail and chat programs cut what is much longer than ${number(most)}. Choose fewer files, or send them as an archive.`,
    much: (files: number, size: string) =>
      `A link takes ${number(files)} files and ${size} at most. Choose fewer files, or send them as an archive.`,
    zip: 'Download them as zip',
  },
  cluster: {
    title: 'This cluster',
    link: 'Link with this cluster',
    about:
      'All objects with the settings, the clock and the files of the workspace. Keys, tokens of service accounts and kubeconfigs are left out. The reader opens it as a new cluster.',
    secrets: 'With Secrets: whoever has the link or the file can read them',
    make: 'Make a link',
    inLink: 'The cluster is in the link itself, as it was just now, and no server gets it.',
    large: (size: string) => `This cluster has ${size}, which no link has room for.`,
  },
  short: {
    about:
      'The host of this page can keep it for a short link. Whoever has that link can read it, and so can the host.',
    make: 'Send it to the host, for a short link',
    link: 'Short link',
    kept: 'The host keeps it until nobody has opened it for 90 days.',
    large: 'It is larger than the 256 KiB that the host takes. Send it as a file.',
    refused: (why: string) => `The host does not take it: ${why}`,
    unreachable: 'The host cannot be reached. Nothing was sent.',
  },
  received: {
    title: 'Files from a link',
    reading: 'Reading the link',
    about:
      'Whoever made the link wrote these files. Adding them applies nothing, and your own files stay as they are.',
    add: (files: number) => `Add ${counted(files, 'file', 'files')}`,
    leave: 'Leave them',
    close: 'Close',
    look: 'Look at it',
    added: (files: number) =>
      `${counted(files, 'file was', 'files were')} added. Nothing has been applied.`,
    fates: {
      renamed: (to: string) => `The name is taken: it is added as ${to}.`,
      same: (_: string) => 'You have this file already.',
      refused: (_: string) =>
        'It is not added: its name is hidden, leads out of the workspace, or is not what it looks like.',
    },
    unreadable: {
      large:
        'The link holds more than the page takes from a link: 100 files and 1 MB. Nothing of it was added.',
      format: 'The link was made by another version of this page. Nothing of it was added.',
      damaged:
        'The link is damaged: a part of it is missing, or was changed. Ask for it again. Nothing of it was added.',
      gone: 'The host of this page no longer has what this link leads to: nobody has opened it for 90 days, or it was taken down. Ask for it again.',
      unreachable:
        'The host of this page does not answer, and has what this link leads to. Open the link again later.',
    },
  },
  receivedCluster: {
    title: 'A cluster from a link',
    about: (size: string) =>
      `The link holds a cluster of ${size}. Whoever made the link made it, with what it may hold. It is opened as a new cluster with a name of its own; your clusters stay as they are.`,
    open: 'Open as a new cluster',
    leave: 'Leave it',
    name: 'Shared.kubetab',
  },
};

export type Words = typeof english;
export const words = catalogue(english, (chinese) => chinese.share);
