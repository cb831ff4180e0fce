import { computed, signal } from '@preact/signals';
import type { EngineStats } from '../../answers/boundary';
import { type ApiClient, throughEnginePort, throughServiceWorker } from '../../client';
import { findEngine, type Home, type HomeEvents } from '../../client/home';
import type { EngineLink } from '../../client/link';
import {
  keepModuleForOffline,
  keepPageForOffline,
  serveServiceWorker,
  type WithoutServiceWorker,
} from '../../client/service-worker';
import type { Dead, EngineSettings, EngineState, Restart } from '../../protocol';
import { words } from '../words';
import { unmarkKept } from './eviction-mark';
import { clusterHere, holdCluster, scope } from './here';
import { words as engineWords } from './words';

export { scope };

/** What the engine is doing, or null until its worker has said the first word. */
export const engineState = signal<EngineState | null>(null);
export const engineStats = signal<EngineStats | null>(null);
/** The worker has not answered for a while: it computes, or hangs. */
export const engineSilent = signal(false);

/** Whether the cluster's etcd is stopped; null before the engine has told. See control/etcd.ts. */
export const etcdStopped = signal<boolean | null>(null);
export const home = signal<Home>('shared');
export const controlled = signal(false);
export const withoutServiceWorker = signal<WithoutServiceWorker | null>(null);
/** Something the user should know that is no answer to what they did. */
export const notice = signal<Notice | null>(null);

export interface Notice {
  /** Asked whenever it is shown: the language may have changed meanwhile. */
  readonly text: () => string;
  /** It tells of a success only: it goes when the user goes on working. */
  readonly passes?: boolean;
  readonly action?: { readonly label: () => string; readonly run: () => void };
}

export const ready = computed(() => engineState.value?.phase === 'ready');

let link: EngineLink | null = null;
let lastWorker = '';
let reopen: () => void = () => undefined;
let hasServiceWorker = false;
/** For every new link: the service worker may have asked before there was one. */
let linked = later<EngineLink>();

function later<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Where the engine of a page is, and whether a service worker shall serve it to others. */
export interface Surroundings {
  readonly find: (events: HomeEvents) => { reopen(): void };
  readonly serviceWorker: boolean;
}

const OF_TAB: Surroundings = {
  find: (events) => findEngine(scope.pathname, clusterHere, events),
  serviceWorker: true,
};

/** Connects to the engine, which starts it if no other tab has, and to the service worker. To be called once. */
export function openCluster({ find, serviceWorker }: Surroundings = OF_TAB): void {
  holdCluster();
  ({ reopen } = find({
    onLink: adopt,
    onBroken: (why) =>
      die({ phase: 'dead', cause: 'worker', what: words.dead.what.worker, why, output: '' }),
  }));
  setInterval(() => void refreshStats(), 5000);
  setInterval(() => void feelPulse(), 5000);
  if (!serviceWorker) {
    withoutServiceWorker.value = { reason: 'unavailable' };
    return;
  }
  hasServiceWorker = true;
  void serveServiceWorker(new URL('sw.js', scope), {
    cluster: clusterHere,
    introduce: lendPort,
    onControl: (now) => {
      controlled.value = now;
    },
    onReplaced: () => location.reload(),
    onUpdate: (takeOver) => {
      notice.value = {
        text: () => words.notice.update,
        action: { label: () => words.notice.updateAction, run: takeOver },
      };
    },
  }).then((why) => {
    withoutServiceWorker.value = why;
  });
}

/** Names the worker of the engine: see EngineLink.worker. Empty before it has said a word. */
export function engineWorker(): string {
  return lastWorker;
}

/** The way to the API that is open now. */
export function api(): ApiClient {
  return controlled.value || !link ? throughServiceWorker(scope) : throughEnginePort(link, scope);
}

/** The direct way, whatever the service worker does. */
export function directApi(): ApiClient | null {
  return link && throughEnginePort(link, scope);
}

/** Starts the engine again: after its death, for an empty cluster, or with other settings. See `Restart`. */
export function restartEngine(objects: Restart['objects'], settings?: EngineSettings): void {
  notice.value = null;
  if (objects === 'none') unmarkKept(clusterHere);
  if (link && !link.lost.aborted) {
    link.restart(objects, settings);
  } else {
    engineState.value = null;
    lastWorker = '';
    reopen();
  }
}

/** Deletes the clusters that other builds of the page have kept. See `ForgetOthers`. */
export function forgetOtherBuilds(): void {
  link?.forgetOthers();
}

export async function refreshStats(): Promise<void> {
  if (!ready.value || !link || document.hidden) return;
  try {
    engineStats.value = await link.stats();
  } catch {
    // The link was lost: `adopt` tells of that.
  }
}

/** Resolves when the API is ready; rejects with EngineDead when it cannot become so, or with the signal's reason. */
export function untilReady(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => settle(() => reject(signal.reason));
    let stop: (() => void) | null = null;
    let settled = false;
    function settle(then: () => void) {
      settled = true;
      stop?.();
      signal.removeEventListener('abort', onAbort);
      then();
    }
    signal.addEventListener('abort', onAbort);
    // The first call comes before `subscribe` returns.
    stop = engineState.subscribe((state) => {
      if (settled) return;
      if (state?.phase === 'ready') settle(resolve);
      else if (state?.phase === 'dead') settle(() => reject(new EngineDead(state)));
    });
    if (settled) stop();
  });
}

export class EngineDead extends Error {
  constructor(readonly state: Dead) {
    super(`${words.dead.what[state.cause]} ${engineWords.said(state.why)}`);
  }
}

function adopt(next: EngineLink, where: Home): void {
  const last = link;
  const wasOpen = last?.state && !last.lost.aborted;
  // Before the last one is closed: that is no loss, of which there would be something to tell.
  link = next;
  last?.close();
  if (wasOpen) {
    linked = later();
    engineState.value = null;
  }
  next.onState = (state) => {
    if (link !== next) return;
    home.value = where;
    const isNew = lastWorker !== '' && lastWorker !== next.worker;
    lastWorker = next.worker;
    if (isNew)
      notice.value = {
        text: () => (where === 'leader' ? words.notice.ledHere : words.notice.ledThere),
      };
    engineSilent.value = false;
    const before = engineState.value?.phase;
    engineState.value = state;
    if (state.phase === 'ready' && before !== 'ready') void refreshStats();
    if (state.phase !== 'ready') engineStats.value = null;
    linked.resolve(next);
  };
  next.lost.addEventListener('abort', () => {
    if (link !== next) return;
    linked = later();
    const why =
      next.lost.reason instanceof Error ? next.lost.reason.message : String(next.lost.reason);
    // A follower is given a new engine by whichever tab takes over; the others have to ask for one.
    if (where === 'follower') engineState.value = null;
    else die({ phase: 'dead', cause: 'gone', what: words.dead.what.gone, why, output: '' });
  });
}

function die(dead: Dead): void {
  engineState.value = dead;
  engineStats.value = null;
}

/** Has the service worker keep the files of the page, and later the module, for visits without a network. */
export function keepFiles(): void {
  if (!hasServiceWorker) return;
  void keepPageForOffline();
  // Compressing the module for offline use takes seconds of a processor: after the first impression, not during it.
  setTimeout(() => void keepModuleForOffline(), 15_000);
}

/**
 * A control port for another party, the service worker or the worker of a script. It leads to the engine as soon as
 * there is one: a worker that never says a word is replaced by another, and what it was told would be lost.
 */
export function lendPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  if (link?.state && !link.lost.aborted) return link.introduce();
  void linked.promise.then((open) => open.introducePort(port1));
  return port2;
}

async function feelPulse(): Promise<void> {
  if (!ready.value || !link || document.hidden) return;
  const late = setTimeout(() => {
    engineSilent.value = true;
  }, 8000);
  try {
    await link.ping();
    engineSilent.value = false;
  } catch {
    // Lost, which is more than silent.
  } finally {
    clearTimeout(late);
  }
}
