import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Kubetab, StartOptions } from '../../src/embed/client';
import { docsSite, withoutThirdParties } from './docs-site';
import { plain, type Site } from './site';

// @kubetab/client as somebody else has it: packed, and installed in a folder that knows nothing of this one.

const web = resolve(import.meta.dirname, '../..');
let folder: string;
let site: Site;

beforeAll(async () => {
  site = await plain();
  folder = mkdtempSync(join(tmpdir(), 'kubetab-client-'));
  const npm = (args: string[], cwd: string) =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  npm(['pack', '--pack-destination', folder], join(web, 'client'));
  writeFileSync(join(folder, 'package.json'), '{"type": "module", "private": true}');
  npm(['install', '--offline', '--no-audit', './kubetab-client-0.1.0.tgz'], folder);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await site?.close();
});

test('its types are found, and say what is wrong', () => {
  writeFileSync(
    join(folder, 'use.ts'),
    `import { start, type Kubetab } from '@kubetab/client';
export const kubetab: Promise<Kubetab> = start({ iframe: 'https://kubetab.example/embed.html', settings: { nodes: 2 } });
export const printed: Promise<string> = kubetab.then((k) => k.kubectl('get pods')).then(({ stdout }) => stdout);
// @ts-expect-error: there is no such setting
start({ worker: 'engine.js', settings: { pods: 2 } });
`,
  );
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'];
  const tsc = join(web, '../node_modules/.bin/tsc');
  const run = () =>
    execFileSync(tsc, [...options, '--lib', 'es2023,dom', 'use.ts'], { cwd: folder });
  expect(run).not.toThrow();
});

declare global {
  interface Window {
    start(options: StartOptions): Promise<Kubetab>;
  }
}

test('a frame and then a worker have one cluster, in a page of another site', async () => {
  const script = readFileSync(join(folder, 'node_modules/@kubetab/client/dist/index.js'), 'utf8');
  const docs = await docsSite({
    '/': '<!doctype html><html lang="en"><title>docs</title><script type="module">import { start } from "./client.js"; window.start = start;</script>',
    '/client.js': script,
  });
  const context = await withoutThirdParties();
  try {
    const page = await context.newPage();
    await page.goto(docs.url);
    await page.waitForFunction(() => typeof window.start === 'function');
    const found = await page.evaluate(async (site) => {
      const phases: string[] = [];
      const framed = await window.start({
        iframe: `${site}embed.html`,
        onState: ({ phase }) => phases.push(phase),
      });
      const created = await framed.kubectl('create namespace team-a');
      const changes: string[] = [];
      const requests: string[] = [];
      framed.on('request', ({ verb, path, done }) => {
        if (done) requests.push(`${verb} ${path}`);
      });
      let onChange = (_: string) => {};
      framed.on('change', ({ verb, resource, namespace }) => {
        changes.push(`${verb} ${resource} in ${namespace}`);
        if (resource === 'configmaps' && namespace === 'team-a') onChange('');
      });
      const changed = new Promise<string>((resolve) => {
        onChange = resolve;
      });
      const watch = await framed.fetch('/api/v1/namespaces/team-a/configmaps?watch=1');
      const reader = watch.body?.pipeThrough(new TextDecoderStream()).getReader();
      const manifest = JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'notes', namespace: 'team-a' },
        data: { key: 'value' },
      });
      const applied = await framed.apply(manifest);
      // Larger than what travels at once, in both directions.
      const posted = await framed.fetch('/api/v1/namespaces/team-a/configmaps', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ metadata: { name: 'long' }, data: { text: 'x'.repeat(700_000) } }),
      });
      let events = '';
      while (reader && !events.includes('x'.repeat(700_000))) {
        const { done, value } = await reader.read();
        if (done) throw new Error('The watch has ended.');
        events += value;
      }
      await reader?.cancel();
      await changed;
      const big = await framed.fetch('/api/v1/namespaces/team-a/configmaps/notes');
      const uid = (await big.json()).metadata.uid;
      const refused = await framed.kubectl('get nothing');
      const session = framed.session();
      await session.run('mkdir shop; cd shop; name=web');
      const lasting = await session.run('basename $PWD; echo $name');
      let watched = '';
      for await (const { stdout = '' } of session.stream('kubectl get cm -n team-a -w')) {
        if (!watched) void framed.kubectl('create configmap seen -n team-a');
        watched += stdout;
        if (/^seen /m.test(watched)) break;
      }
      const interrupted = await session.run('echo $?');
      await framed.run('mkdir notes; echo of-a-person > notes/note.txt');
      const bundle = await framed.save();
      const frames = document.querySelectorAll('iframe').length;
      framed.close();
      const left = document.querySelectorAll('iframe').length;
      const again = await window.start({ worker: `${site}engine.js`, bundle });
      const from = again.state.phase === 'ready' && again.state.run.from;
      const kept = await again.run('kubectl get cm notes -n team-a -o json | jq -r .metadata.uid');
      const note = await again.run('cat notes/note.txt');
      again.close();
      const set = await window.start({
        worker: `${site}engine.js`,
        bundle,
        settings: { nodes: 3, emulatedVersion: '1.36' },
      });
      const settled = await set.run(`
        kubectl get cm notes -n team-a -o jsonpath='{.metadata.uid}{"\\n"}'
        kubectl get --raw /version | jq -r '"emulates \\(.emulationMajor).\\(.emulationMinor)"'
        until [ $(kubectl get nodes -o name | wc -l) = 3 ]; do sleep 0.1; done`);
      set.close();
      const closed = await again.fetch('/version').then(
        ({ status }) => status,
        () => 0,
      );
      const refusal = (options: StartOptions) =>
        window.start(options).then(() => 'started', String);
      const unfit = await refusal({
        iframe: `${site}embed.html`,
        settings: { emulatedVersion: '1.3' },
      });
      const torn = await refusal({ worker: `${site}engine.js`, bundle: new Blob(['kind: Pod']) });
      const nowhere = await refusal({ iframe: `${site}nothing.html` });
      return {
        phases,
        created,
        applied,
        posted: posted.status,
        changes,
        requests,
        uid,
        refused,
        lasting,
        watched,
        interrupted,
        frames,
        left,
        from,
        kept,
        note,
        settled,
        closed,
        unfit,
        torn,
        nowhere,
      };
    }, site.url);
    expect(found.phases.at(-1)).toBe('ready');
    expect(found.created).toEqual({
      stdout: 'namespace/team-a created\n',
      stderr: '',
      exitCode: 0,
    });
    expect(found.applied.stdout).toBe('configmap/notes created\n');
    expect(found.posted).toBe(201);
    expect(found.changes).toContain('create configmaps in team-a');
    expect(found.requests).toContain('get /api/v1/namespaces/team-a/configmaps/notes');
    expect(found.refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(found.refused.stderr).toContain('the server doesn\'t have a resource type "nothing"');
    expect(found.lasting.stdout).toBe('shop\nweb\n');
    expect(found.watched).toMatch(/^NAME +DATA +AGE\n/);
    expect(found.interrupted.stdout).toBe('130\n');
    expect(found.from).toBe('snapshot');
    expect(found.kept.stdout).toBe(`${found.uid}\n`);
    expect(found.note.stdout).toBe('of-a-person\n');
    expect(found.settled).toEqual({
      stdout: `${found.uid}\nemulates 1.36\n`,
      stderr: '',
      exitCode: 0,
    });
    expect([found.frames, found.left]).toEqual([1, 0]);
    expect(found.closed).toBe(503);
    // Nothing else is begun instead.
    expect(found.unfit).toMatch(/^Error: .*emulated version "1.3"/);
    expect(found.torn).toMatch(/^Error: the file cannot be read as a bundle/);
    expect(found.nowhere).toBe(`Error: ${new URL(site.url).origin} does not answer.`);
  } finally {
    await context.close();
    await docs.close();
  }
}); // engines one after the other
