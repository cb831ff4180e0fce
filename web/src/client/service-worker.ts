import type { FromServiceWorker, ToServiceWorker } from '../protocol';

const KEEP_AWAKE_MS = 10_000;

/** What the service worker needs of a page. */
export interface ServiceWorkerPage {
  /** What the page is in as long as it lives. */
  readonly cluster: string;
  /** A new control port to the engine. */
  introduce(): MessagePort;
  /** The page is now controlled, or no longer: requests through the service worker work, or do not. */
  onControl(controlled: boolean): void;
  /** Another version has taken over: this page's files are no longer kept, and it has to be loaded anew. */
  onReplaced(): void;
  /** A new version has been installed and waits until every tab is closed, or `takeOver` is called. */
  onUpdate(takeOver: () => void): void;
}

/** Why there is none. */
export type WithoutServiceWorker =
  | { readonly reason: 'unavailable' }
  | { readonly reason: 'refused'; readonly why: string };

/**
 * The page's side of the service worker: registers it, lends it ports to the engine, keeps it awake while it streams.
 *
 * @param script address of sw.js, whose folder becomes the scope
 * @returns why there is no service worker, or null when it is registered
 */
export async function serveServiceWorker(
  script: URL,
  page: ServiceWorkerPage,
): Promise<WithoutServiceWorker | null> {
  const { serviceWorker } = navigator;
  if (!serviceWorker) {
    return { reason: 'unavailable' };
  }
  const say = (to: ServiceWorker | null, message: ToServiceWorker, transfer: Transferable[] = []) =>
    to?.postMessage(message, transfer);
  let awake = 0;
  // Before the first visit of this copy has ended, that of a copy in a folder above may control the page.
  const ours = (worker: ServiceWorker | null) =>
    worker?.scriptURL === script.href ? worker : null;

  const giveEngine = (to: ServiceWorker | null) => {
    if (!to) return;
    const port = page.introduce();
    say(to, { type: 'engine-port', cluster: page.cluster, port }, [port]);
  };
  serviceWorker.addEventListener('message', ({ data, source }) => {
    const from = ours(source as ServiceWorker | null);
    if (!from) return;
    const message = data as FromServiceWorker;
    switch (message.type) {
      case 'want-engine':
        giveEngine(from);
        return;
      case 'open-streams':
        window.clearTimeout(awake);
        if (message.count > 0) {
          awake = window.setTimeout(() => say(from, { type: 'keep-awake' }), KEEP_AWAKE_MS);
        }
        return;
      default:
        message satisfies never;
    }
  });
  serviceWorker.startMessages();
  let controller = ours(serviceWorker.controller);
  // Unasked: the first request would have to wait until this thread, which has a page to draw, answers.
  giveEngine(controller);
  page.onControl(controller !== null);
  serviceWorker.addEventListener('controllerchange', () => {
    // The first to control a page is of its own version; one that follows another is not.
    const next = ours(serviceWorker.controller);
    if (controller && next) page.onReplaced();
    controller = next;
    giveEngine(controller);
    page.onControl(controller !== null);
  });

  try {
    const registration = await serviceWorker.register(script, { updateViaCache: 'none' });
    offerUpdates(registration, page);
    const active = await activeOf(registration);
    activated(active);
    if (!controller) say(active, { type: 'claim-me' });
    return null;
  } catch (error) {
    return { reason: 'refused', why: error instanceof Error ? error.message : String(error) };
  }
}

let activated: (worker: ServiceWorker) => void;
const worker = new Promise<ServiceWorker>((resolve) => {
  activated = resolve;
});

/** Lets the files of the page be kept, once the engine runs. */
export async function keepPageForOffline(): Promise<void> {
  (await worker).postMessage({ type: 'keep-page' } satisfies ToServiceWorker);
}

/** Lets the engine's module be kept for offline use, once the engine runs and the network is at rest. */
export async function keepModuleForOffline(): Promise<void> {
  (await worker).postMessage({ type: 'keep-module' } satisfies ToServiceWorker);
}

/** `serviceWorker.ready` may be that of a folder above. */
function activeOf(registration: ServiceWorkerRegistration): Promise<ServiceWorker> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const { active, installing, waiting } = registration;
      if (active) resolve(active);
      else if (!installing && !waiting) reject(new Error('Its installation has failed.'));
    };
    const { installing, waiting } = registration;
    for (const coming of [installing, waiting]) coming?.addEventListener('statechange', look);
    look();
  });
}

function offerUpdates(registration: ServiceWorkerRegistration, page: ServiceWorkerPage): void {
  const offer = (waiting: ServiceWorker) =>
    page.onUpdate(() => waiting.postMessage({ type: 'take-over' } satisfies ToServiceWorker));
  const { waiting } = registration;
  if (waiting && registration.active) offer(waiting);
  registration.addEventListener('updatefound', () => {
    const { installing } = registration;
    installing?.addEventListener('statechange', () => {
      if (installing.state === 'installed' && registration.active) offer(installing);
    });
  });
}
