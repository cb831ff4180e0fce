/*!
 * Kubetab's service worker: a router that remembers nothing.
 *
 * What it does
 *   1. It answers requests for the Kubernetes API under its scope, /api/v1/namespaces and the like, by handing each to
 *      the engine worker over a MessageChannel of its own. `fetch` then resolves as soon as status and headers are
 *      there; the body streams, and an aborted request is ended in the engine. The reader's pace limits the writer as
 *      far as the browser lets it: Chromium 156 takes some 55 MB from a service worker before anybody reads.
 *   2. It keeps the page's own files, so that a second visit needs no network.
 *
 * What it does not do
 *   It holds no cluster. Browsers stop a service worker after some 30 seconds without an event, and in any case after
 *   some minutes, and everything in its memory is gone then. The engine therefore lives in a SharedWorker, and the port
 *   that leads there is only borrowed: a page gives one when it comes, and tells which cluster it is in. What is missing
 *   is asked for again (client/routes.ts). With no page open there is no engine, and the answer is a Kubernetes Status,
 *   503 with Retry-After, never silence.
 *
 * Long streams
 *   A watch outlives the 30 seconds only because events keep coming in: while a stream is open the pages are told, and
 *   send `keep-awake` every few seconds until they hear that none is left.
 *
 * Updates
 *   A new version installs beside the old one and waits. It takes over when the last tab of the old version is closed,
 *   or when the user asks for it: pages, workers and this file then always belong to the same build.
 *
 *     page ──fetch──▶ service worker ──port──▶ engine worker (Go)
 *      └──────────── gives the port ◀─────────┘
 */
import type { StreamCount } from './client/exchange';
import { nameIn } from './client/folder';
import { EngineLink } from './client/link';
import { Routes } from './client/routes';
import { forbidden, toResponse, unavailable } from './client/status';
import {
  addressOf,
  type FileInfo,
  KEPT,
  keepGzipped,
  keptFile,
  offlineCache,
} from './engine/download';
import { givingWay } from './engine/give-way';
import type { FromServiceWorker, ToServiceWorker } from './protocol';

const sw = self as unknown as ServiceWorkerGlobalScope;
const SCOPE = new URL(sw.registration.scope);

/* ---------------------------------------------------------------- the page's files */

const PRECACHES = nameIn(SCOPE.pathname, 'kubetab-page-');
const PRECACHE = PRECACHES + __BUILD__;
const FILES = __PRECACHE__; // named once, because the build writes the list where the name stands

sw.addEventListener('install', (event) => {
  // Where the browser does not have them, or not like this, the fetch event does the same.
  const routed = (event as InstallEvent).addRoutes?.(ROUTES).catch(() => undefined);
  if (routed) event.waitUntil(routed);
  // The first version has nothing to take over. Its page fetches the engine now, and no file shall take the line from it:
  // the page says `keep-page` when the engine is ready. A later version has to be whole before it takes over.
  if (sw.registration.active) event.waitUntil(keepPage());
});

sw.addEventListener('activate', (event) => {
  event.waitUntil(Promise.all([removeOldPrecaches(), sw.clients.claim()]));
});

/** How the paths end of the files of which the engine is made. */
const ENGINE_FILES = ['.wasm', '.wasm.gz', '.snapshot', '.snapshot.gz'];

/** What the browser finds without this worker, which it would have to start first: a visit begins so much sooner. */
const ROUTES = [
  ...ENGINE_FILES.map((ending) => routeOf(`*${ending}`, 'network')),
  ...['', 'assets/*'].map((files) => routeOf(files, { cacheName: PRECACHE })), // or of the network, where it is not kept
];

type RouterSource = 'network' | { readonly cacheName: string };

/** What TypeScript knows no method of: https://developer.mozilla.org/docs/Web/API/InstallEvent/addRoutes. */
interface InstallEvent extends ExtendableEvent {
  addRoutes?(rules: readonly object[]): Promise<void>;
}

function routeOf(files: string, source: RouterSource) {
  const { href: baseURL, pathname } = SCOPE;
  const condition = {
    urlPattern: { pathname: pathname + files, search: '', baseURL },
    requestMethod: 'get',
  };
  return { condition, source };
}

/**
 * Keeps all files of this build, the document last: until it is kept, a visit begins with the document of the host.
 *
 * @throws TypeError when a file cannot be had, or when the host has another build by now
 */
async function keepPage(): Promise<void> {
  const cache = await caches.open(PRECACHE);
  if (await cache.match(SCOPE)) return;
  await cache.addAll(FILES.map((file) => new URL(file, SCOPE).href));
  // `reload` keeps an old copy in the browser's HTTP cache from becoming part of a new version.
  const document = await fetch(new Request(SCOPE, { cache: 'reload' }));
  const text = await document.clone().text();
  const named = Array.from(text.matchAll(/"\.\/(assets\/[^"]+)"/g), ([, file]) => file ?? '');
  if (!document.ok || !named.every((file) => FILES.includes(file))) {
    throw new TypeError('The document is of another build.');
  }
  await cache.put(SCOPE, document);
}

let keepingPage: Promise<void> | null = null;

/** Every tab asks. What fails is tried again on the next visit. */
function keepPageOnce(): Promise<void> {
  keepingPage ??= keepPage()
    .catch(() => undefined)
    .finally(() => {
      keepingPage = null;
    });
  return keepingPage;
}

async function removeOldPrecaches(): Promise<void> {
  const old = (await caches.keys()).filter((n) => n.startsWith(PRECACHES) && n !== PRECACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** A file of this build, or null: everything else goes to the network as if there were no service worker. */
async function ownFile(url: URL): Promise<Response | null> {
  const key = inScope(url) === '/index.html' ? SCOPE : new URL(url.pathname, url.origin);
  return (await (await caches.open(PRECACHE)).match(key)) ?? null;
}

/**
 * Keeps the module, its snapshot and its other parts for visits without a network, gzipped because they are stored
 * as they are given: 300 MB would be taken from the visitor's disk otherwise. The browser's HTTP cache still holds what was
 * just downloaded. The rest comes last, and for a visitor who saves data not before the second visit: most first visits
 * never call a function that is there.
 */
function keepModule(): Promise<void> {
  // Every tab asks.
  keeping ??= keepPageOnce()
    .then(keepLessons)
    .then(keepFiles)
    .finally(() => {
      keeping = null;
    });
  return keeping;
}

let keeping: Promise<void> | null = null;

/** Keeps every lesson in both languages, some kilobytes each: the page itself asks for those that are opened. */
async function keepLessons(): Promise<void> {
  const cache = await caches.open(PRECACHE);
  const kept = new Set((await cache.keys()).map((request) => request.url));
  for (const file of __LESSONS__) {
    const url = new URL(file, SCOPE).href;
    // One that cannot be had now is had on the next visit.
    if (!kept.has(url)) await cache.add(new Request(url, { cache: 'no-cache' })).catch(() => {});
  }
}

async function keepFiles(): Promise<void> {
  const { snapshot, soon, rest } = __MODULE__;
  const address = (file: FileInfo) => addressOf(file, SCOPE).href;
  const all = [__MODULE__, snapshot, soon, rest].filter((file) => file !== undefined).map(address);
  const cache = await offlineCache(SCOPE.pathname);
  const kept = (await cache.keys()).map((request) => request.url);
  await Promise.all(kept.filter((url) => !all.includes(url)).map((url) => cache.delete(url)));
  const again = kept.includes(address(__MODULE__));
  const wanted = all.filter((url) => !savesData() || again || !rest || url !== address(rest));
  for (const url of wanted.filter((url) => !kept.includes(url))) {
    // A single failure is no news. After a second one, the next visit tries again.
    if (!(await keepFile(cache, url)) && !(await keepFile(cache, url))) return;
  }
}

async function keepFile(cache: Cache, url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { cache: 'force-cache', priority: 'low' });
    if (!response.ok) return false;
    await keepGzipped(cache, url, response, givingWay(isBusy));
    return true;
  } catch {
    return false; // there is no network, or no room
  }
}

/** Where the browser tells: Chromium does. */
function savesData(): boolean {
  const { connection } = navigator as { readonly connection?: { readonly saveData?: boolean } };
  return connection?.saveData === true;
}

/* ---------------------------------------------------------------- the way to the engine */

const routes = new Routes({
  get: (id) => sw.clients.get(id),
  windows: pages,
  ask: (page: Client) => say(page, { type: 'want-engine' }),
  isPage,
});

/** Another copy of the page in a folder below has a service worker of its own, and is none of ours. */
function isPage(url: URL): boolean {
  return /^\/(index\.html)?$/.test(inScope(url) ?? '');
}

/** Controlled by this worker or not yet. */
async function pages(): Promise<readonly Client[]> {
  const windows = await sw.clients.matchAll({ type: 'window', includeUncontrolled: true });
  return windows.filter(({ url }) => isPage(new URL(url)));
}

/* ---------------------------------------------------------------- the API */

/** What kube-apiserver serves at its root, and the page does not. */
const API_ROOTS = new Set([
  'api',
  'apis',
  'openapi',
  'openid',
  'version',
  'healthz',
  'livez',
  'readyz',
  'metrics',
]);
const OPENID_CONFIGURATION = '/.well-known/openid-configuration';

function isApi(path: string): boolean {
  return path === OPENID_CONFIGURATION || API_ROOTS.has(path.split('/', 2)[1] ?? '');
}

/** The path below the scope, beginning with a slash; null for what is not ours. */
function inScope(url: URL): string | null {
  if (url.origin !== SCOPE.origin || !url.pathname.startsWith(SCOPE.pathname)) return null;
  return url.pathname.slice(SCOPE.pathname.length - 1);
}

sw.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const path = inScope(url);
  if (path === null) return;
  if (isApi(path)) {
    const isForm = request.mode === 'navigate' && !/^(GET|HEAD)$/.test(request.method);
    event.respondWith(
      isForm ? toResponse(NO_FORMS) : answer(event.clientId, request, path + url.search),
    );
    return;
  }
  // The engine worker falls back to what is kept of the module by itself. Going around this worker leaves the responses to
  // the browser's HTTP cache, beside which it can keep the compiled code.
  if (request.method !== 'GET') return;
  if (ENGINE_FILES.some((ending) => path.endsWith(ending))) {
    // An engine worker that stands still could not look for it itself.
    if (url.search === KEPT) {
      const plain = new URL(url.pathname, url.origin);
      event.respondWith(keptFile(plain).then((file) => file ?? fetch(request)));
    }
    return;
  }
  event.respondWith(ownFile(url).then((file) => file ?? fetch(request)));
});

/** When the last request came. */
let asked = Number.NEGATIVE_INFINITY;

/** Whether somebody uses the API through this worker: a request has just come, or one goes on. */
const isBusy = () => performance.now() - asked < 1000 || open > 0;

async function answer(client: string, request: Request, target: string): Promise<Response> {
  asked = performance.now();
  const found = await routes.of(client, request);
  if (!(found instanceof EngineLink)) return toResponse(unavailable(found.why, found.retryAfter));
  let response: Response;
  try {
    response = await found.request(request, target, streams);
  } catch (error) {
    // The page took its request back, or its body broke: nobody reads this, but a rejection would be logged.
    if (request.signal.aborted) return Response.error();
    return toResponse(unavailable(`The request could not be sent to the engine: ${error}`, 1));
  }
  return request.mode === 'navigate' ? disarmed(response) : response;
}

/**
 * A form is the one way for another site to write: its request comes as a navigation of this one's. Requests of scripts
 * come from pages of this site only. Forms of this site have no use for the API.
 */
const NO_FORMS = forbidden('The API server takes no forms: another site may have sent this one.');

/** An answer shown as a document of its own: what an object contains must not become a page of this origin. */
function disarmed(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set('content-security-policy', "sandbox; default-src 'none'");
  headers.set('x-content-type-options', 'nosniff');
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

/* ---------------------------------------------------------------- staying awake while something streams */

let open = 0;

const streams: StreamCount = {
  opened: () => {
    open++;
    if (open === 1) void tellPages();
  },
  over: () => {
    open--;
    if (open === 0) void tellPages();
  },
};

async function tellPages(): Promise<void> {
  for (const page of await pages()) say(page, { type: 'open-streams', count: open });
}

/* ---------------------------------------------------------------- messages from pages */

sw.addEventListener('message', (event) => {
  const message = event.data as ToServiceWorker;
  const page = event.source as Client | null;
  // A page of another copy would give a port to an engine that is not ours.
  if (!page || !isPage(new URL(page.url))) return;
  switch (message.type) {
    case 'engine-port':
      routes.take(page.id, message);
      return;
    case 'keep-awake':
      say(page, { type: 'open-streams', count: open });
      return;
    case 'claim-me':
      event.waitUntil(sw.clients.claim());
      return;
    case 'take-over':
      event.waitUntil(sw.skipWaiting());
      return;
    case 'keep-page':
      event.waitUntil(keepPageOnce());
      return;
    case 'keep-module':
      event.waitUntil(keepModule());
      return;
    default:
      message satisfies never;
  }
});

function say(page: Client, message: FromServiceWorker): void {
  page.postMessage(message);
}
