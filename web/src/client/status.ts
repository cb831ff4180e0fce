import type { HeaderPair } from '../protocol';

/** A response that did not come from the API server but reads like one: clients of Kubernetes expect a Status. */
export interface StatusAnswer {
  readonly status: number;
  readonly headers: readonly HeaderPair[];
  readonly body: string;
}

/**
 * There is no engine, or not yet: `503 ServiceUnavailable` as kube-apiserver gives it, with `Retry-After` in seconds,
 * which client-go and kubectl obey.
 */
export function unavailable(message: string, retryAfterSeconds: number): StatusAnswer {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'ServiceUnavailable',
    details: { retryAfterSeconds },
    code: 503,
  };
  return {
    status: 503,
    headers: [
      ['content-type', 'application/json'],
      ['retry-after', String(retryAfterSeconds)],
      ['cache-control', 'no-store'],
    ],
    body: `${JSON.stringify(status)}\n`,
  };
}

/** What is refused before it reaches the engine: `403 Forbidden`. */
export function forbidden(message: string): StatusAnswer {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'Forbidden',
    code: 403,
  };
  return {
    status: 403,
    headers: [
      ['content-type', 'application/json'],
      ['cache-control', 'no-store'],
    ],
    body: `${JSON.stringify(status)}\n`,
  };
}

export function toResponse(answer: StatusAnswer): Response {
  return new Response(answer.body, {
    status: answer.status,
    statusText: answer.status === 403 ? 'Forbidden' : 'Service Unavailable',
    headers: answer.headers.map(([name, value]): [string, string] => [name, value]),
  });
}
