/**
 * The engine worker of one cluster, which its name says. All state of the cluster is here; pages and the service worker come and go around it.
 *
 * It runs as a SharedWorker, which every tab of the origin reaches, or - where there is none - as a dedicated Worker of
 * the tab that won the election in home.ts. The only difference is how ports arrive.
 */
import { listenForTabs } from '../client/bridge';
import { clusterOfWorker, engineName } from '../client/cluster-names';
import { Keeper } from './keeper';
import { Parties } from './parties';

const cluster = clusterOfWorker(self.name);
const base = new URL('../', self.location.href);
const keeper = new Keeper(__MODULE__, base, cluster);
const parties = new Parties(keeper);

if ('onconnect' in self) {
  (self as unknown as SharedWorkerGlobalScope).onconnect = ({ ports: [port] }) => {
    if (port) parties.admit(port);
  };
} else {
  self.addEventListener('message', ({ data }: MessageEvent<MessagePort>) => parties.admit(data));
  listenForTabs(engineName(base.pathname, __MODULE__.url, cluster), (port) => parties.admit(port));
}

self.addEventListener('error', (event) => {
  if (keeper.uncaught(event.error)) event.preventDefault();
});
self.addEventListener('unhandledrejection', (event) => {
  if (keeper.uncaught(event.reason)) event.preventDefault();
});

keeper.start();
