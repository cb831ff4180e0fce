import type { ApiRequestInit } from '../../client';
import { ADMIN, type Identity, identity, identityHeaders } from '../control/identity';
import { api, directApi } from './cluster';

/** The parts of the page that make requests of their own; the request log shows who made each. */
export type Part = 'view' | 'editor' | 'console' | 'control' | 'lesson';

export interface AskInit extends Omit<ApiRequestInit, 'headers'> {
  readonly headers?: readonly (readonly [string, string])[];
  /** Who asks, when it is not the identity that was chosen in the page. */
  readonly as?: Identity;
}

/**
 * A request of the page itself, as the identity that is chosen. It goes straight to the engine where it can: what the
 * page shows then does not depend on a service worker that the browser may stop.
 *
 * @throws as `ApiClient.request`
 */
export function ask(part: Part, path: string, init: AskInit = {}): Promise<Response> {
  const { headers = [], as = identity.value, ...rest } = init;
  // The console is there to show the way that a visitor's own fetch takes.
  const client = part === 'console' ? api() : (directApi() ?? api());
  return client.request(path, {
    ...rest,
    headers: [
      ['Kubetab-Client', part],
      ...identityHeaders(as),
      ...headers.map(([name, value]): [string, string] => [name, value]),
    ],
  });
}

/** What the page does for itself, whoever the visitor plays. */
export function askAsAdmin(part: Part, path: string, init: AskInit = {}): Promise<Response> {
  return ask(part, path, { ...init, as: ADMIN });
}

/** An answer that was not what was asked for, in the server's words. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly body: StatusBody | null,
  ) {
    super(message);
  }
}

/** The parts of a Status of meta.k8s.io that are read here. */
export interface StatusBody {
  readonly message?: string;
  readonly reason?: string;
  readonly details?: {
    readonly causes?: readonly {
      readonly reason?: string;
      readonly message?: string;
      readonly field?: string;
    }[];
  };
}

/** @throws Refused for an answer of 400 and above */
export async function askJson<T>(part: Part, path: string, init: AskInit = {}): Promise<T> {
  const response = await ask(part, path, init);
  const text = await response.text();
  if (!response.ok) throw refused(response.status, text);
  return JSON.parse(text) as T;
}

/**
 * An answer of 400 and above.
 *
 * @param path what was asked for, to be told with an answer that is no Status: of a path that it does not serve, the API server
 *   says that the page was not found, and not which
 */
export function refused(status: number, text: string, path = ''): Refused {
  let body: StatusBody | null = null;
  try {
    body = JSON.parse(text) as StatusBody;
  } catch {
    // Not every refusal is a Status.
  }
  const words = text.trim().slice(0, 500) || `HTTP ${status}`;
  return new Refused(status, body?.message || (path ? `${path}: ${words}` : words), body);
}
