import type { EngineLink } from './link';

/** The options of a request; each field means what it means in `fetch`. */
export interface ApiRequestInit {
  readonly method?: string;
  readonly headers?: HeadersInit;
  readonly body?: BodyInit | null;
  readonly signal?: AbortSignal;
}

/**
 * A way to the API server. Both ways give the same: the promise resolves when the head of the response has arrived, the
 * body streams, and aborting the signal or cancelling the body ends the request in the engine.
 *
 * A reader of the body then sees the signal's reason. `text()` and its like see a TypeError instead where browsers put
 * one in place of the error of any stream made in JavaScript.
 */
export interface ApiClient {
  readonly transport: 'service-worker' | 'engine-port';
  /**
   * @param path path and query as the API server sees them, such as `/api/v1/pods?watch=1`
   * @throws TypeError for what `new Request` refuses (a method or header that fetch forbids), and the signal's reason
   */
  request(path: string, init?: ApiRequestInit): Promise<Response>;
}

/**
 * Plain `fetch`, answered by the service worker. For a page that it controls.
 *
 * @param scope the service worker's scope: the API lies directly under it
 */
export function throughServiceWorker(scope: URL): ApiClient {
  return {
    transport: 'service-worker',
    request: (path, init) => fetch(under(scope, path), init),
  };
}

/** Straight to the engine worker: first load, hard reload, private windows, or no service worker at all. */
export function throughEnginePort(link: EngineLink, scope: URL): ApiClient {
  return {
    transport: 'engine-port',
    // Request checks and normalises exactly as fetch would, so that both ways accept and refuse the same.
    request: async (path, init) => link.request(new Request(under(scope, path), init), path),
  };
}

function under(scope: URL, path: string): URL {
  if (!path.startsWith('/')) throw new TypeError(`The path must begin with a slash: ${path}`);
  // Concatenated, not resolved: `//x` must stay a path and never become another host.
  return new URL(scope.origin + scope.pathname.replace(/\/$/, '') + path);
}
