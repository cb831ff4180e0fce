import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { CommandResult, RunOptions } from '../../src/embed/run';

// What codapi's snippets ask of the engine, with a client that runs nothing.

interface Request {
  readonly sandbox: string;
  readonly command: string;
  readonly files: Record<string, string>;
}

let exec: (request: Request) => Promise<{ ok: boolean; stdout: string; stderr: string }>;
let folder: string;
const ran: string[] = [];
let run: (lines: string, options: RunOptions) => Promise<CommandResult>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kubetab-site-'));
  const client =
    'export const start = async () => ({ closed: new AbortController().signal, run: (...a) => globalThis.runForTest(...a) });';
  writeFileSync(join(folder, 'embed-client.js'), client);
  vi.stubGlobal('runForTest', (lines: string, options: RunOptions) => {
    ran.push(lines);
    return run(lines, options);
  });
  const engines: Record<string, { exec: typeof exec }> = {};
  vi.stubGlobal('window', { codapi: { engines: { ...engines, other: {} } } });
  vi.stubGlobal('document', {
    currentScript: {
      src: `${pathToFileURL(folder)}/embed-codapi.js`,
      dataset: { timeout: '0.05' },
    },
  });
  await import('../../src/embed/codapi');
  const registered = (window as unknown as { codapi: { engines: typeof engines } }).codapi.engines;
  expect(Object.keys(registered)).toEqual(['other', 'kubetab']);
  ({ exec } = registered.kubetab as { exec: typeof exec });
});
afterAll(() => {
  vi.unstubAllGlobals();
  rmSync(folder, { recursive: true });
});

/** A command that prints these, and ends. */
const printing =
  (exitCode: number, ...pieces: { stdout?: string; stderr?: string }[]): typeof run =>
  async (_, { onOutput }) => {
    for (const piece of pieces) onOutput?.(piece);
    return { stdout: '', stderr: '', exitCode };
  };

const ask = (code: string, sandbox = 'kubectl', files = {}) =>
  exec({ sandbox, command: 'run', files: { '': code, ...files } });

test('lines are run, with their files, and manifests applied', async () => {
  run = printing(0, { stdout: 'done\n' });
  expect(await ask('ls', 'kubectl', { 'a.txt': 'a' })).toMatchObject({
    ok: true,
    stdout: 'done\n',
  });
  expect(ran.pop()).toBe(`mkdir -p "$(dirname 'a.txt')" && cat > 'a.txt' <<'EOF'\na\nEOF\nls`);
  await ask('kind: Pod', 'yaml');
  expect(ran.pop()).toBe("kubectl apply -f - <<'EOF'\nkind: Pod\nEOF\n");
});

test('codapi shows one stream: of two, both in their order', async () => {
  run = printing(1, { stdout: 'a' }, { stderr: 'b' }, { stdout: 'c' });
  expect(await ask('x')).toMatchObject({ ok: false, stdout: 'abc', stderr: '' });
  run = printing(1, { stderr: 'b' });
  expect(await ask('x')).toMatchObject({ ok: false, stdout: '', stderr: 'b' });
});

test('what goes on is ended, and what it has printed is shown', async () => {
  run = (_, { onOutput, signal }) => {
    onOutput?.({ stdout: 'NAME\n' });
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  };
  expect(await ask('kubectl get pods -w')).toMatchObject({
    ok: false,
    stdout: 'NAME\nEnded after 0.05 s.\n',
  });
});

test('what there is not is an error, in place of which codapi shows its fallback', async () => {
  await expect(ask('x', 'python')).rejects.toThrow('unknown sandbox: python');
  await expect(exec({ sandbox: 'yaml', command: 'test', files: {} })).rejects.toThrow(
    'unknown command: yaml.test',
  );
  run = () => Promise.reject(new Error('The engine worker ended.'));
  await expect(ask('x')).rejects.toThrow('The engine worker ended.');
});
