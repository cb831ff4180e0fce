import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { LARGE } from './sparing';

// One bin/kubetab serves the page to all files of a run. It is an API server, too, and each start of one takes a processor
// for seconds. The tests use it for files alone: what they change is in their browsers.

declare module 'vitest' {
  interface ProvidedContext {
    /** Its address; "" where bin/kubetab has not been built, or is not wanted. */
    site: string;
  }
}

interface Site {
  readonly url: string;
  close(): Promise<void>;
}

const web = resolve(import.meta.dirname, '../..');
const dist = join(web, 'dist');

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const binary = resolve(web, '../bin/kubetab');
  const wanted = existsSync(binary) && !process.env.KUBETAB_PLAIN_SITE;
  const isSparing = project.config.env.KUBETAB_SPARING === '1';
  const files = wanted && isSparing ? withoutCompressed() : dist;
  const site = wanted ? await serve(binary, files) : { url: '', close: async () => {} };
  project.provide('site', site.url);
  return async () => {
    await site.close();
    if (files !== dist) rmSync(files, { recursive: true });
  };
}

/** The page in a folder of its own, without what the engine is compressed to. */
function withoutCompressed(): string {
  const build = resolve(web, '../build');
  mkdirSync(build, { recursive: true });
  const folder = mkdtempSync(join(build, 'served-'));
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const [, of = ''] = /(.*)\.(br|gz)$/.exec(path) ?? [];
    if (!entry.isFile() || LARGE.test(of)) continue;
    const to = join(folder, relative(dist, path));
    mkdirSync(dirname(to), { recursive: true });
    linkSync(path, to); // a copy would be 220 MB
  }
  return folder;
}

async function serve(binary: string, files: string): Promise<Site> {
  const shared = mkdtempSync(join(tmpdir(), 'shared-'));
  const child: ChildProcess = spawn(
    binary,
    [
      'serve',
      '--listen',
      '127.0.0.1:0',
      '--http',
      '127.0.0.1:0',
      '--static',
      files,
      '--share-dir',
      shared,
      '--kubeconfig',
      '/dev/null',
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  return new Promise((done, fail) => {
    let said = '';
    const onData = (piece: Buffer) => {
      said += piece;
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (!url) return;
      done({
        url: `${url}/`,
        close: () =>
          new Promise((closed) => {
            child.once('exit', () => {
              rmSync(shared, { recursive: true, force: true });
              closed();
            });
            child.kill('SIGTERM');
          }),
      });
    };
    child.stdout?.on('data', onData);
    child.stderr?.on('data', onData);
    child.once('exit', (code) => fail(new Error(`kubetab serve ended with ${code}:\n${said}`)));
  });
}
