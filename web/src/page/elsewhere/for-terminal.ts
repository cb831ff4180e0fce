import type { Download } from '../../answers/shell';
import { directApi } from '../engine/cluster';
import { type Fetched, fetchElsewhere, NotFetched } from './fetch';

/** Fetches the file of another site that a command of the terminal (kubectl apply -f, curl) waits for, or tells it why not. */
export async function downloadForTerminal(token: string): Promise<void> {
  const api = directApi();
  if (!api) return;
  const way = `/kubetab/downloads/${encodeURIComponent(token)}`;
  const asked = await api.request(way).catch(() => null);
  // The command may have ended: a page that is reloaded is told again what the last one was.
  if (!asked?.ok) return;
  const { address, most } = (await asked.json()) as Download;
  const { query, body } = await fetchElsewhere(new URL(address), most).then(found, refused);
  const told = await api
    .request(`${way}?${new URLSearchParams(query)}`, { method: 'POST', body })
    .catch(() => null);
  await told?.body?.cancel();
}

interface Told {
  readonly query: Record<string, string>;
  readonly body: Blob | null;
}

function found({ answer, parts }: Fetched): Told {
  const type = answer.headers.get('content-type') ?? '';
  return { query: { status: String(answer.status), type }, body: new Blob(parts) };
}

function refused(error: unknown): Told {
  const why =
    error instanceof NotFetched && error.reason !== 'failed' ? error.reason : String(error);
  return { query: { why }, body: null };
}
