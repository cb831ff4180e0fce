import { signal } from '@preact/signals';
import type { EngineSettings } from '../../../protocol';
import { isCustom, type Kind } from '../../cluster/kinds';
import { askAsAdmin, Refused, refused } from '../../engine/ask';
import { engineState, notice, restartEngine, untilReady } from '../../engine/cluster';
import { go } from '../../frame/route';
import { words as frameWords } from '../../words';
import { words } from '../words';
import { nameCluster } from './cluster-name';

/** The folders of /clusters. */
export const CLUSTERS = ['shop', 'custom', 'broken', 'system'] as const;
export type Prepared = (typeof CLUSTERS)[number];

/** How far the last prepared cluster has come. */
export interface Preparing {
  readonly name: Prepared;
  readonly done: number;
  readonly total: number;
  readonly failures: readonly { readonly what: string; readonly why: string }[];
}

export const preparing = signal<Preparing | null>(null);

/** As kubectl names itself, so that the visitor's own `kubectl apply --server-side` has no conflicts with it. */
const MANAGER = 'kubectl';
/** How long an object is tried again whose kind or namespace has been made a moment ago, and how long between, in ms. */
const PATIENCE = 60_000;
const PAUSE = 250;

/** Ends the engine and starts another with that cluster. What goes wrong is in `preparing`. */
export async function startPrepared(name: Prepared, settings: EngineSettings): Promise<void> {
  restartEngine('none', settings);
  await new Promise<void>((resolve) => {
    const stop = engineState.subscribe((state) => {
      if (state?.phase === 'ready') return;
      queueMicrotask(() => stop());
      resolve();
    });
  });
  await fill(name);
}

/** Applies a prepared cluster to the engine that runs, or starts, with progress and outcome in a line of the page. */
export async function fill(name: Prepared): Promise<void> {
  preparing.value = { name, done: 0, total: 0, failures: [] };
  notice.value = { text: progress };
  try {
    await untilReady(new AbortController().signal);
    await nameCluster(name);
    const [{ filesOf }, { parseFile }, { locate }] = await Promise.all([
      import('./prepared-files'),
      import('../../files/language/documents'),
      import('../../files/apply/apply'),
    ]);
    const parsed = await Promise.all(filesOf(name).map(({ text }) => parseFile(text)));
    const objects = parsed.flatMap(({ documents }) =>
      documents.flatMap(({ object }) => (object ? [object] : [])),
    );
    update({ total: objects.length });
    for (const object of objects) {
      try {
        // A kind of such a group is one that the cluster defines itself, and so one that will be there.
        const [group = ''] = (object.apiVersion ?? '').split('/');
        const defined = isCustom({ group });
        await applied(() => locate(object), JSON.stringify(object), defined);
      } catch (error) {
        failed(`${object.kind} ${object.metadata?.name}`, error);
      }
      update({ done: (preparing.value?.done ?? 0) + 1 });
    }
  } catch (error) {
    failed(name, error);
  }
  const isWhole = preparing.value?.failures.length === 0;
  notice.value = {
    text: () => outcome(name, isWhole),
    passes: isWhole,
    action: {
      label: () => words.prepared.show,
      run: () => {
        notice.value = null;
        go(isWhole ? 'cluster' : 'settings');
      },
    },
  };
}

async function applied(
  locate: () => Promise<{ readonly path: string; readonly kind: Kind }>,
  body: string,
  defined: boolean,
): Promise<void> {
  const began = performance.now();
  for (;;) {
    try {
      const { path } = await locate();
      const query = `fieldManager=${MANAGER}&fieldValidation=Strict&force=true`;
      const response = await askAsAdmin('control', `${path}?${query}`, {
        method: 'PATCH',
        headers: [['Content-Type', 'application/apply-patch+yaml']],
        body,
      });
      const text = await response.text();
      if (response.ok) return;
      throw refused(response.status, text);
    } catch (error) {
      const status = error instanceof Refused ? error.status : -1;
      const isEarly = status === 404 || (status === 0 && defined); // 0: the kind is not there
      if (!isEarly || performance.now() - began > PATIENCE) throw error;
      await new Promise((later) => setTimeout(later, PAUSE));
    }
  }
}

function update(change: Partial<Preparing>): void {
  if (preparing.value) preparing.value = { ...preparing.value, ...change };
}

function failed(what: string, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  update({ failures: [...(preparing.value?.failures ?? []), { what, why }] });
}

function progress(): string {
  const { name, done, total } = preparing.value ?? { name: 'shop' as const, done: 0, total: 0 };
  const label = frameWords.cluster.prepared[name];
  return total === 0 ? words.prepared.starting(label) : words.prepared.progress(label, done, total);
}

function outcome(name: Prepared, isWhole: boolean): string {
  const label = frameWords.cluster.prepared[name];
  const [, where] = words.prepared.sets[name];
  const { failures, total } = preparing.value ?? { failures: [], total: 0 };
  return isWhole
    ? words.prepared.done(label, where)
    : words.prepared.failed(label, failures.length, total);
}
