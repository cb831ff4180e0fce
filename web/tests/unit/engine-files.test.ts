import { signal } from '@preact/signals';
import { expect, test, vi } from 'vitest';
import { sharedWithTerminal } from '../../src/page/files/workspace/engine-files';

// The editor's files and the terminal's are one: what is typed here, and what a command writes there.

const engine = vi.hoisted(() => ({
  ask: async (_path: string, _init?: RequestInit): Promise<Response> => new Response(),
}));
vi.mock('../../src/page/engine/cluster', () => ({ ready: signal(true) }));
vi.mock('../../src/page/engine/ask', () => ({
  askAsAdmin: (_part: string, path: string, init?: RequestInit) => engine.ask(path, init),
}));

const HOME = '/kubetab/files/home/kubetab/';

/** An engine that has one file already, whose watch says what the test has it say. */
function newEngine(path: string) {
  const files = new Map([[path, 'as it was']]);
  let news!: ReadableStreamDefaultController<Uint8Array>;
  engine.ask = async (url, init) => {
    if (url.endsWith('?watch=1')) {
      return new Response(new ReadableStream({ start: (controller) => (news = controller) }));
    }
    if (url === HOME) return Response.json({ entries: [{ name: path }] });
    const name = url.slice(HOME.length);
    if (init?.method === 'PUT') files.set(name, String(init.body));
    return new Response(files.get(name) ?? '');
  };
  return {
    files,
    /** A command writes the file. */
    write(text: string) {
      files.set(path, text);
      const change = { type: 'written', path: `/home/kubetab/${path}` };
      news.enqueue(new TextEncoder().encode(`${JSON.stringify(change)}\n`));
    },
  };
}

/** What the editor is told to show: first what the engine has already, which it has been told when this resolves. */
async function shownBy(storage: ReturnType<typeof sharedWithTerminal>): Promise<(string | null)[]> {
  const shown: (string | null)[] = [];
  storage.follow?.(
    (_, text) => shown.push(text),
    () => undefined,
  );
  await vi.waitUntil(() => shown.includes('as it was'));
  return shown;
}

test('what is typed while a browser keeps what a command wrote is not taken back', async () => {
  const { files, write } = newEngine('a.yaml');
  const kept = new Map<string, string>();
  let release: () => void = () => undefined;
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  const storage = sharedWithTerminal(
    {
      load: async () => [{ path: 'a.yaml', text: 'as it was' }],
      save: async ({ path, text }) => {
        kept.set(path, text);
        if (text === 'of a command') await slow;
      },
      remove: async (path) => void kept.delete(path),
    },
    {
      paths: async () => [],
      read: async () => undefined,
      save: async () => undefined,
      remove: async () => undefined,
    },
  );
  const shown = await shownBy(storage);
  write('of a command');
  await vi.waitUntil(() => kept.get('a.yaml') === 'of a command');
  await storage.save({ path: 'a.yaml', text: 'of a command, and more' });
  release();
  write('of the next command');
  await vi.waitUntil(() => shown.includes('of the next command'));
  expect(shown).toEqual(['as it was', 'of the next command']);
  expect(files.get('a.yaml')).toBe('of the next command');
  expect(kept.get('a.yaml')).toBe('of the next command');
});

test('a file that is too large to be kept is not read, and no longer shown', async () => {
  const { write } = newEngine('zero.bin');
  const ask = engine.ask;
  let isLarge = false;
  const left = vi.fn();
  engine.ask = async (url, init) => {
    if (!isLarge || url !== `${HOME}zero.bin`) return ask(url, init);
    const body = new ReadableStream(
      { pull: () => expect.fail('it is read'), cancel: left },
      { highWaterMark: 0 },
    );
    return new Response(body, { headers: { 'content-length': '16000001' } });
  };
  const kept = new Map<string, string>();
  const others = vi.fn();
  const storage = sharedWithTerminal(
    {
      load: async () => [],
      save: async ({ path, text }) => void kept.set(path, text),
      remove: async (path) => void kept.delete(path),
    },
    {
      paths: async () => [],
      read: async () => undefined,
      save: others,
      remove: async () => undefined,
    },
  );
  const shown = await shownBy(storage);
  isLarge = true;
  write('zeros');
  await vi.waitUntil(() => shown.includes(null));
  expect(left).toHaveBeenCalledOnce();
  expect(kept.size).toBe(0);
  expect(others).not.toHaveBeenCalled();
});
