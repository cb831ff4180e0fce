import type { EtcdState } from '../../answers/core';
import { askAsAdmin, refused } from '../engine/ask';
import { etcdStopped, notice, ready } from '../engine/cluster';
import { onRecord } from '../requests/log';

const PATH = '/kubetab/etcd';

/**
 * Asks whether etcd is stopped when an engine is ready, and again when somebody has changed it: a command in the
 * terminal, another tab. To be called once.
 */
export function followEtcd(): void {
  const read = () => void exchange('view', 'GET').catch(() => undefined); // the engine has gone
  ready.subscribe((isReady) => {
    etcdStopped.value = null;
    if (isReady) read();
  });
  onRecord(({ path, method, done }) => {
    if (done && method !== 'GET' && path.startsWith(PATH)) read();
  });
}

/** Stops etcd or starts it again. What went wrong is told in a notice. */
export function setEtcd(stopped: boolean): void {
  exchange('control', 'PUT', { stopped }).catch((error: unknown) => {
    notice.value = { text: () => (error instanceof Error ? error.message : String(error)) };
  });
}

async function exchange(from: 'view' | 'control', method: string, body?: EtcdState): Promise<void> {
  const response = await askAsAdmin(from, PATH, {
    method,
    headers: body ? [['Content-Type', 'application/json']] : [],
    body: body ? JSON.stringify(body) : null,
  });
  const text = await response.text();
  if (!response.ok) throw refused(response.status, text);
  etcdStopped.value = (JSON.parse(text) as EtcdState).stopped;
}
