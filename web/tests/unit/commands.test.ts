import { expect, test } from 'vitest';
import type { ApiClient, ApiRequestInit } from '../../src/client';
import { commands, session } from '../../src/embed/run';

/** An engine that answers every command with these pieces of a body, and no end unless it is said. */
function engine(pieces: readonly (string | Uint8Array)[], ends = true) {
  const asked: { path: string; method: string | undefined; body: unknown }[] = [];
  const cancelled: unknown[] = [];
  const api: ApiClient = {
    transport: 'engine-port',
    request: async (path, { method, body, signal }: ApiRequestInit = {}) => {
      asked.push({ path, method, body: body && JSON.parse(String(body)) });
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const piece of pieces) {
            controller.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece);
          }
          if (ends) controller.close();
          signal?.addEventListener('abort', () => controller.error(signal.reason));
        },
        cancel: (reason) => {
          cancelled.push(reason);
        },
      });
      return new Response(method === 'DELETE' ? null : stream, {
        status: method === 'DELETE' ? 204 : 200,
      });
    },
  };
  return { api, asked, cancelled };
}

test('however a body is cut, its pieces are whole', async () => {
  const bytes = new TextEncoder().encode('{"stdout":"5 €\\n"}\n{"stderr":"x"}\n{"exitCode":3}\n');
  const cut = Array.from(bytes, (byte) => new Uint8Array([byte]));
  const all = [];
  for await (const piece of commands(engine(cut).api).stream('x')) all.push(piece);
  expect(all).toEqual([{ stdout: '5 €\n' }, { stderr: 'x' }, { exitCode: 3 }]);
  const told: unknown[] = [];
  const onOutput = (piece: unknown) => told.push(piece);
  expect(await commands(engine(cut).api).run('x', { onOutput })).toEqual({
    stdout: '5 €\n',
    stderr: 'x',
    exitCode: 3,
  });
  expect(told).toEqual(all);
});

test('an answer without an exit code is no success', async () => {
  await expect(commands(engine(['{"stdout":"x"}\n']).api).run('x')).rejects.toThrow(/ended before/);
});

test('a loop that is left ends the command', async () => {
  const { api, cancelled } = engine(['{"stdout":"NAME\\n"}\n'], false);
  for await (const { stdout } of commands(api).stream('kubectl get pods -w')) {
    expect(stdout).toBe('NAME\n');
    break;
  }
  expect(cancelled).toHaveLength(1);
});

test('a signal ends the command, with its reason', async () => {
  const { api } = engine(['{"stdout":"NAME\\n"}\n'], false);
  const stop = new AbortController();
  const reason = new Error('enough');
  const seen = (async () => {
    for await (const _ of commands(api).stream('x', { signal: stop.signal })) stop.abort(reason);
  })();
  await expect(seen).rejects.toBe(reason);
});

test('what the engine refuses is an error in its words', async () => {
  const api: ApiClient = {
    transport: 'engine-port',
    request: async () => new Response('stat /nowhere: no such file\n', { status: 422 }),
  };
  await expect(commands(api).run('x')).rejects.toThrow(/^stat \/nowhere: no such file$/);
});

test('the commands of a session name it, and its end is asked for', async () => {
  const { api, asked } = engine(['{"exitCode":0}\n']);
  const shell = session(api, 'a/b');
  await shell.kubectl('get pods');
  await shell.end();
  expect(asked).toEqual([
    {
      path: '/kubetab/run',
      method: 'POST',
      body: { command: 'kubectl get pods', context: '', session: 'a/b', stream: true },
    },
    { path: '/kubetab/sessions/a%2Fb', method: 'DELETE', body: undefined },
  ]);
});

test.each(['', '.', '..'])('no session is called %j', (name) => {
  expect(() => session(engine([]).api, name)).toThrow(TypeError);
});
