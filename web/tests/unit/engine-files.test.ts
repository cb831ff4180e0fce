import { signal } from '@preact/signals';
import { expect, test, vi } from 'vitest';
import { sharedWithTerminal } from '../../src/page/files/workspace/engine-files';
import { eventually } from './eventually';

// The editor's files and the terminal's are one: what is typed here, and what a command writes there.

const engine = vi.hoisted(() => ({
  ask: async (_path: string, _init?: RequestInit): Promise<Response> => new Response(),
}));
vi.mock('../../src/page/engine/cluster', () => ({ ready: signal(true) }));
vi.mock('../../src/page/engine/ask', () => ({
  askAsAdmin: (_part: string, path: string, init?: RequestInit) => engine.ask(path, init),
}));

/** Numbers below 1, by Park and Miller. */
function randomOf(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

const HOME = '/kubetab/files/home/kubetab/';

/** An engine that has one file already, each of whose answers comes after `pause`. */
function newEngine(path: string, pause: () => Promise<void> = async () => undefined) {
  const files = new Map([[path, 'as it was\n']]);
  const news: ReadableStreamDefaultController<Uint8Array>[] = [];
  const tell = (type: string, name: string) => {
    const frame = `${JSON.stringify({ type, path: `/home/kubetab/${name}` })}\n`;
    for (const each of news) each.enqueue(new TextEncoder().encode(frame));
  };
  const answer = (
    url: string,
    init?: RequestInit & { headers?: readonly (readonly string[])[] },
  ) => {
    if (url.endsWith('?watch=1')) {
      return new Response(
        new ReadableStream({ start: (controller) => void news.push(controller) }),
      );
    }
    if (url === HOME) {
      return Response.json({ entries: [...files.keys()].map((name) => ({ name })) });
    }
    if (!url.startsWith(HOME)) return new Response('');
    const name = url.slice(HOME.length);
    const tagOf = (text: string) => `"${encodeURIComponent(text)}"`;
    const there = files.get(name);
    if (init?.method === 'PUT') {
      const was = init.headers?.find(([header]) => header === 'If-Match')?.[1];
      if (was && (there === undefined || was !== tagOf(there))) {
        return new Response('', { status: 412 });
      }
      files.set(name, String(init.body));
      tell('changed', name);
      return new Response(null, { status: 204, headers: { etag: tagOf(String(init.body)) } });
    }
    if (init?.method === 'DELETE') {
      files.delete(name);
      tell('deleted', name);
      return new Response(null, { status: 204 });
    }
    return there === undefined
      ? new Response('', { status: 404 })
      : new Response(there, { headers: { etag: tagOf(there) } });
  };
  engine.ask = async (url, init) => {
    await pause();
    const answered = answer(url, init as never);
    await pause();
    return answered;
  };
  return {
    files,
    /** A command writes the file, or removes it. */
    write(text: string | null) {
      if (text === null) files.delete(path);
      else files.set(path, text);
      tell(text === null ? 'deleted' : 'changed', path);
    },
    isFollowed: () => news.length > 0,
  };
}

const NO_OTHERS = {
  paths: async () => [],
  read: async () => undefined,
  save: async () => undefined,
  remove: async () => undefined,
};

/** A copy that a page keeps. */
function newCopy(kept: Map<string, string>) {
  return {
    load: async () => [...kept].map(([path, text]) => ({ path, text })),
    save: async ({ path, text }: { path: string; text: string }) => void kept.set(path, text),
    remove: async (path: string) => void kept.delete(path),
  };
}

/** What a page shows of the files of a storage. */
async function newEditor(storage: ReturnType<typeof sharedWithTerminal>) {
  const texts = new Map((await storage.load()).map(({ path, text }) => [path, text]));
  const shown: (string | null)[] = [];
  storage.follow?.({
    textOf: (path) => texts.get(path),
    show(path, text) {
      shown.push(text);
      if (text === null) texts.delete(path);
      else texts.set(path, text);
    },
    refused: () => undefined,
  });
  return {
    shown,
    texts,
    /** Somebody types. */
    type(path: string, text: string) {
      texts.set(path, text);
      return storage.save({ path, text });
    },
  };
}

test('what is typed while a browser keeps what a command wrote is not taken back', async () => {
  const { files, write, isFollowed } = newEngine('a.yaml');
  const kept = new Map<string, string>([['a.yaml', 'as it was\n']]);
  let release: () => void = () => undefined;
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  const copy = newCopy(kept);
  const storage = sharedWithTerminal(
    {
      ...copy,
      save: async (file) => {
        await copy.save(file);
        if (file.text === 'of a command') await slow;
      },
    },
    NO_OTHERS,
  );
  const editor = await newEditor(storage);
  await eventually(isFollowed);
  write('of a command');
  await eventually(() => kept.get('a.yaml') === 'of a command');
  const saved = editor.type('a.yaml', 'of a command, and more');
  release();
  await saved;
  expect(files.get('a.yaml')).toBe('of a command, and more');
  write('of the next command');
  await eventually(() => kept.get('a.yaml') === 'of the next command');
  expect(editor.shown).toEqual(['of a command', 'of the next command']);
  expect(files.get('a.yaml')).toBe('of the next command');
});

test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  'what two pages type and commands write into one file is all there, with the pauses of seed %i',
  async (seed) => {
    const random = randomOf(seed);
    const pause = async () => {
      for (let n = Math.floor(random() * 6); n > 0; n--) await new Promise(setImmediate);
    };
    const { files, write } = newEngine('a.yaml', pause);
    const all = ['as it was\n'];
    const text = () => files.get('a.yaml') ?? '';
    const page = async () => {
      const kept = new Map([['a.yaml', 'as it was\n']]);
      return { kept, ...(await newEditor(sharedWithTerminal(newCopy(kept), NO_OTHERS))) };
    };
    const pages = [await page(), await page()];
    const saving: Promise<void>[] = [];
    for (let n = 0; n < 30; n++) {
      const word = `<${n}>\n`;
      all.push(word);
      const who = Math.floor(random() * 3);
      const page = pages[who];
      if (page) {
        // Between the words of before, whoever wrote them.
        const shown = page.texts.get('a.yaml') ?? '';
        const words = shown.split(/(?<=\n)/);
        words.splice(Math.floor(random() * (words.length + 1)), 0, word);
        saving.push(page.type('a.yaml', words.join('')));
      } else {
        write(`${text()}${word}`);
      }
      await pause();
    }
    await Promise.all(saving);
    await eventually(() =>
      pages.every(
        ({ kept, texts }) => texts.get('a.yaml') === text() && kept.get('a.yaml') === text(),
      ),
    );
    for (const word of all) expect(text().split(word), `${word} in ${text()}`).toHaveLength(2);
  },
);

test('a file that a command removes while one types in it is made again, and another one goes', async () => {
  const { files, write } = newEngine('a.yaml');
  const kept = new Map([['a.yaml', 'as it was\n']]);
  const editor = await newEditor(sharedWithTerminal(newCopy(kept), NO_OTHERS));
  await editor.type('a.yaml', 'typed');
  await eventually(() => files.get('a.yaml') === 'typed');
  editor.texts.set('a.yaml', 'typed, and not yet saved');
  write(null);
  await eventually(() => files.get('a.yaml') === 'typed, and not yet saved');
  write(null);
  await eventually(() => !kept.has('a.yaml'));
  expect(editor.texts.has('a.yaml')).toBe(false);
});

test('an engine that names no texts has what was typed last', async () => {
  const { files, write, isFollowed } = newEngine('a.yaml');
  const ask = engine.ask;
  engine.ask = async (url, init) => {
    const answer = await ask(url, init);
    answer.headers.delete('etag');
    return answer;
  };
  const kept = new Map([['a.yaml', 'as it was\n']]);
  const editor = await newEditor(sharedWithTerminal(newCopy(kept), NO_OTHERS));
  await eventually(isFollowed);
  await editor.type('a.yaml', 'typed');
  await eventually(() => files.get('a.yaml') === 'typed');
  write('of a command');
  await eventually(() => editor.texts.get('a.yaml') === 'of a command');
  await editor.type('a.yaml', 'typed again');
  expect(files.get('a.yaml')).toBe('typed again');
});

test('a file that cannot be read stays as it is, and what is new of others is heard', async () => {
  const { files, write } = newEngine('a.yaml');
  const ask = engine.ask;
  let isBroken = false;
  engine.ask = async (url, init) =>
    isBroken && url === `${HOME}a.yaml`
      ? new Response('no memory', { status: 500 })
      : ask(url, init);
  const kept = new Map([['a.yaml', 'as it was\n']]);
  const editor = await newEditor(sharedWithTerminal(newCopy(kept), NO_OTHERS));
  await editor.type('a.yaml', 'typed');
  await eventually(() => files.get('a.yaml') === 'typed');
  isBroken = true;
  write('of a command');
  await new Promise(setImmediate);
  isBroken = false;
  write('of the next command');
  await eventually(() => kept.get('a.yaml') === 'of the next command');
  expect(editor.shown).toEqual(['of the next command']);
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
  const storage = sharedWithTerminal(newCopy(kept), { ...NO_OTHERS, save: others });
  const { shown } = await newEditor(storage);
  await eventually(() => shown.includes('as it was\n'));
  isLarge = true;
  write('zeros');
  await eventually(() => shown.includes(null));
  expect(left).toHaveBeenCalledOnce();
  expect(kept.size).toBe(0);
  expect(others).not.toHaveBeenCalled();
});
