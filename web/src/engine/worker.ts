/**
 * The engine worker of one cluster, which its name says. All state of the cluster is here; pages and the service worker come and go around it.
 *
 * It runs as a SharedWorker, which every tab of the origin reaches, or - where there is none - as a dedicated Worker of
 * the tab that won the election in home.ts. The only difference is how ports arrive. A worker of the name `ALONE` is one
 * page's alone: it waits for `BeginAlone`, and what its engine does is gone with it.
 */
import { listenForTabs } from '../client/bridge';
import { ALONE, clusterOfWorker, engineName } from '../client/cluster-names';
import type { BeginAlone } from '../protocol';
import { settingsOfBundle } from './bundle-settings';
import { MemoryJournal } from './journal/memory-journal';
import { Parties } from './parties';
import { Supervisor } from './supervisor';

// A worker of another site is a blob that imports this script: its own address then says nothing.
const here = import.meta.url;
const site = new URL('../', here);

if (self.name === ALONE) {
  const begun = (async () => {
    const { settings, bundle } = await first();
    const wanted = settings ?? (bundle && (await settingsOfBundle(bundle)));
    return run(
      new Supervisor(__MODULE__, site, {
        journal: new MemoryJournal(bundle ?? null, wanted ?? {}),
      }),
    );
  })();
  self.addEventListener('message', ({ data }: MessageEvent<BeginAlone | MessagePort>) => {
    if (data instanceof MessagePort) void begun.then((parties) => parties.admit(data));
  });
} else {
  const cluster = clusterOfWorker(self.name);
  const supervisor = new Supervisor(__MODULE__, site, { cluster });
  const parties = run(supervisor);
  if ('onconnect' in self) {
    // Chromium would keep it for five minutes: see home.ts.
    parties.onDeserted = () => {
      supervisor.end();
      self.close();
    };
    (self as unknown as SharedWorkerGlobalScope).onconnect = ({ ports: [port] }) => {
      if (port) parties.admit(port);
    };
  } else {
    self.addEventListener('message', ({ data }: MessageEvent<MessagePort>) => parties.admit(data));
    const name = engineName(site.pathname, __MODULE__.url, cluster);
    listenForTabs(name, (port) => parties.admit(port));
  }
}

function run(supervisor: Supervisor): Parties {
  const parties = new Parties(supervisor);
  self.addEventListener('error', (event) => {
    if (supervisor.uncaught(event.error)) event.preventDefault();
  });
  self.addEventListener('unhandledrejection', (event) => {
    if (supervisor.uncaught(event.reason)) event.preventDefault();
  });
  supervisor.start();
  return parties;
}

function first(): Promise<BeginAlone> {
  return new Promise((resolve) => {
    self.addEventListener(
      'message',
      function hear({ data }: MessageEvent<BeginAlone | MessagePort>) {
        if (data instanceof MessagePort) return;
        self.removeEventListener('message', hear);
        resolve(data);
      },
    );
  });
}
