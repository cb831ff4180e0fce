import { signal } from '@preact/signals';
import type { Identity as TerminalIdentity } from '../../answers/shell';
import { askAsAdmin, refused } from '../engine/ask';
import { notice, ready } from '../engine/cluster';
import { framesOf } from '../engine/frames';
import { words } from '../words';
import { ADMIN, EDITOR, type Identity, identity, serviceAccount, VIEWER } from './identity';

/** The current context of the terminal's kubeconfig, while it is nobody whom the page can be; empty otherwise. */
export const foreignContext = signal('');

const PATH = '/kubetab/identity';

/**
 * Keeps the identity of the page and the current context of the terminal's kubeconfig the same, whichever of them is
 * changed. An engine that starts is told the identity of the page. If that is the administrator, the page takes over
 * the identity of kubectl instead. To be called once.
 */
export function shareIdentity(): void {
  let inTerminal = '';
  let stop: AbortController | null = null;
  ready.subscribe((isReady) => {
    stop?.abort();
    stop = null;
    inTerminal = '';
    foreignContext.value = '';
    if (!isReady) return;
    stop = new AbortController();
    void join(stop.signal).catch(() => undefined); // the engine has gone, or has no terminal
  });
  identity.subscribe((who) => {
    if (stop && inTerminal !== '' && who.name !== inTerminal) void tell(who);
  });

  async function tell(who: Identity): Promise<void> {
    inTerminal = who.name;
    await giveTerminal(who);
  }

  async function join(signal: AbortSignal): Promise<void> {
    if (identity.value.name !== ADMIN.name) await tell(identity.value);
    const changes = await askAsAdmin('view', `${PATH}?watch=1`, { signal });
    if (!changes.ok || !changes.body) return;
    for await (const frame of framesOf(changes.body)) {
      const now = JSON.parse(frame) as TerminalIdentity;
      const who = identityOf(now);
      foreignContext.value = who ? '' : now.context;
      inTerminal = who ? who.name : `context ${now.context}`;
      if (!who) continue;
      if (who.name !== identity.value.name) identity.value = who;
    }
  }
}

/** Makes kubectl in the terminal that identity, or says why it stays who it was. */
export async function giveTerminal(who: Identity): Promise<void> {
  try {
    const answer = await askAsAdmin('control', PATH, {
      method: 'PUT',
      body: JSON.stringify({ user: who.name, groups: who.groups }),
    });
    // An engine without a terminal has none to give it to.
    if (answer.ok || answer.status === 404) return;
    const why = refused(answer.status, (await answer.text()).trim()).message;
    notice.value = { text: () => words.identity.notInTerminal(why) };
  } catch {
    // The engine has gone: the next one is told.
  }
}

/** Null for somebody whom the page has no way to be: a user of the visitor's own kubeconfig. */
function identityOf({ user }: TerminalIdentity): Identity | null {
  const known = [ADMIN, EDITOR, VIEWER].find(({ name }) => name === user);
  if (known) return known;
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user);
  return account?.[1] && account[2] ? serviceAccount(account[1], account[2]) : null;
}
