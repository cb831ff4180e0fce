import { askAsAdmin, refused } from '../engine/ask';
import { notice, ready } from '../engine/cluster';
import { EDITOR, type Identity, identity, VIEWER } from './identity';
import { words } from './words';

/** The role of upstream's that each of the page's own users has. */
const ROLES: ReadonlyMap<Identity, string> = new Map([
  [EDITOR, 'edit'],
  [VIEWER, 'view'],
]);

/** Makes `who` the one that the page acts as, with the role it is known for. */
export async function become(who: Identity): Promise<void> {
  const role = ROLES.get(who);
  if (role && ready.value) {
    try {
      await grant(who.name, role);
    } catch (error) {
      notice.value = { text: words.grantFailed(String(error)) };
    }
  }
  identity.value = who;
}

/** A ClusterRoleBinding like any other; a visitor may look at it, and take it away. */
async function grant(user: string, role: string): Promise<void> {
  const name = `kubetab-${user}`;
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  };
  const response = await askAsAdmin(
    'control',
    '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings?fieldManager=kubetab-page',
    {
      method: 'POST',
      headers: [['Content-Type', 'application/json']],
      body: JSON.stringify(binding),
    },
  );
  const text = await response.text();
  if (!response.ok && response.status !== 409) throw refused(response.status, text);
}
