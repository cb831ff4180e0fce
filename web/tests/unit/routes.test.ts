import { beforeEach, expect, test, vi } from 'vitest';
import { EngineLink } from '../../src/client/link';
import { type Asker, Routes } from '../../src/client/routes';
import { PROTOCOL } from '../../src/client/version';

// Which engine a request goes to. Pages and engines are made here; their ports are real.

interface PageOf extends Asker {
  readonly cluster: string | null;
}

/** The windows and workers that there are, of which pages with a cluster answer when they are asked. */
function open(...askers: readonly PageOf[]) {
  const asked: string[] = [];
  const reached: string[] = [];
  let ended = 0;
  const give = (page: PageOf) => {
    const { port1, port2 } = new MessageChannel();
    const cluster = page.cluster ?? '';
    if (ended > 0) {
      ended--;
      port2.close();
    }
    port2.onmessage = ({ data }) => {
      if (data.type !== 'hello') return;
      reached.push(cluster);
      port2.postMessage({
        type: 'welcome',
        protocol: PROTOCOL,
        worker: cluster,
        lock: null,
        state: { phase: 'dead' },
      });
    };
    routes.take(page.id, { cluster, port: port1 });
  };
  const routes: Routes<PageOf> = new Routes<PageOf>({
    get: async (id) => askers.find((each) => each.id === id),
    windows: async () => askers.filter(({ type }) => type === 'window'),
    ask: (page) => {
      asked.push(page.id);
      if (page.cluster !== null) setTimeout(() => give(page));
    },
    isPage: ({ pathname }) => pathname === '/',
  });
  /** The cluster that a request comes to, or why it does not. */
  const of = async (client: string, init: { mode?: string; cluster?: string } = {}) => {
    const headers = new Headers(
      init.cluster === undefined ? {} : { 'kubetab-cluster': init.cluster },
    );
    const request = { mode: init.mode ?? 'cors', headers } as Request;
    const found = await routes.of(client, request);
    return found instanceof EngineLink ? found.worker : found.why;
  };
  /** The next ports that pages give lead to engines that have ended. */
  const endEngines = (ports: number) => {
    ended = ports;
  };
  return { routes, asked, reached, give, of, endEngines };
}

const page = (id: string, cluster: string | null, url = 'https://example.com/'): PageOf => ({
  id,
  cluster,
  url,
  type: 'window',
});
const worker = (id: string): PageOf => ({
  id,
  cluster: null,
  url: 'https://example.com/assets/script.js',
  type: 'worker',
});

beforeEach(() => {
  vi.stubGlobal('navigator', {});
  vi.useRealTimers();
});

test('each page reaches its own cluster, whether it has told or is asked', async () => {
  const [a, b] = [page('1', 'own'), page('2', 'other')];
  const { of, give, asked } = open(a, b);
  give(a);
  expect(await Promise.all([of('2'), of('1'), of('2')])).toEqual(['other', 'own', 'other']);
  expect(asked).toEqual(['2']);
});

test('many requests at once ask a page once', async () => {
  const { of, asked, reached } = open(page('1', 'own'));
  expect(new Set(await Promise.all(Array.from({ length: 20 }, () => of('1'))))).toEqual(
    new Set(['own']),
  );
  expect([asked, reached]).toEqual([['1'], ['own']]);
});

test('a worker reaches the one cluster that there is, and of several only the one that it names', async () => {
  const alone = open(page('1', 'other'), worker('w'));
  expect(await alone.of('w')).toBe('other');
  const several = open(page('1', 'own'), page('2', 'other'), worker('w'));
  expect(await several.of('w')).toContain('are in several clusters');
  expect(await several.of('w', { cluster: 'other' })).toBe('other');
  expect(await several.of('w', { cluster: 'third' })).toContain('no page of this site');
  expect(await several.of('w', { cluster: '{own}' })).toContain('does not hold the name');
});

test('an answer that is opened as a document comes from the first cluster, if pages differ', async () => {
  const { of } = open(page('1', 'other'), page('2', 'own'));
  expect(await of('', { mode: 'navigate' })).toBe('own');
  const foreign = open(page('1', 'other'), page('2', 'third'));
  expect(await foreign.of('', { mode: 'navigate' })).toContain('are in several clusters');
});

test('no page at all', async () => {
  expect(await open().of('')).toContain('none is open');
});

test('a page that does not answer is waited for, and never served from another cluster', async () => {
  vi.useFakeTimers();
  const { of, give } = open(page('1', 'own'), page('busy', null), worker('w'));
  const asking = of('busy');
  const guessed = of('w');
  await vi.advanceTimersByTimeAsync(4000);
  // Nobody knows whose the worker is while a page is silent.
  expect(await guessed).toContain('does not answer');
  await vi.advanceTimersByTimeAsync(10_000);
  give(page('busy', 'late'));
  vi.useRealTimers();
  expect(await asking).toBe('late');
});

test('a page that did not know that its engine had ended is asked again', async () => {
  vi.useFakeTimers();
  const { of, give, asked, endEngines } = open(page('1', 'own'));
  endEngines(2); // the one that the page gives when it comes, and the one that it is asked for
  give(page('1', 'own'));
  const asking = of('1');
  await vi.advanceTimersByTimeAsync(6500);
  vi.useRealTimers();
  expect(await asking).toBe('own');
  expect(asked).toEqual(['1', '1']);
});

test('a window that is no page of the site does not keep others from being served', async () => {
  vi.useFakeTimers();
  const { of } = open(
    page('1', 'other'),
    page('2', null, 'https://example.com/docs/'),
    worker('w'),
  );
  const asking = of('w');
  await vi.advanceTimersByTimeAsync(3500);
  vi.useRealTimers();
  expect(await asking).toBe('other');
});
