import { signal } from '@preact/signals';

/**
 * The user of the page's own requests. The engine takes a request without credentials for the administrator's. For
 * other users the administrator impersonates them, which is what `kubectl --as` does and what the inspector shows.
 */
export interface Identity {
  readonly kind: 'admin' | 'user' | 'service-account';
  /** As the API server knows it: `kubetab-view`, `system:serviceaccount:default:robot`. */
  readonly name: string;
  readonly groups: readonly string[];
}

/** The people of the kubeconfig (core/people); ClusterRoleBindings of their names give the other two their roles. */
export const ADMIN: Identity = { kind: 'admin', name: 'kubetab-admin', groups: [] };
export const EDITOR: Identity = { kind: 'user', name: 'kubetab-edit', groups: [] };
export const VIEWER: Identity = { kind: 'user', name: 'kubetab-view', groups: [] };

export function serviceAccount(namespace: string, name: string): Identity {
  return {
    kind: 'service-account',
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  };
}

export const identity = signal<Identity>(ADMIN);

/** The headers that make a request this identity's. */
export function identityHeaders(who: Identity): [string, string][] {
  if (who.kind === 'admin') return [];
  return [
    ['Impersonate-User', who.name],
    ...who.groups.map((group): [string, string] => ['Impersonate-Group', group]),
  ];
}
