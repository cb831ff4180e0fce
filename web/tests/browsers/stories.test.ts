import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { docsSite } from '../browser/docs-site';
import { openSite, type Site } from '../browser/site';
import type { Browser, Tab } from './browser';
import { firefox } from './firefox';
import { webkit } from './webkit';

// What matters of the page, in browsers that are not Chromium. The tests of browser/ say the rest.

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

const READY = `while (!document.querySelector('.pill.is-ready')) await new Promise((r) => setTimeout(r, 50));`;
const CONTROLLED = `while (!navigator.serviceWorker.controller) await new Promise((r) => setTimeout(r, 50));`;
const get = (path: string) => `return (await fetch(${JSON.stringify(path)})).status;`;
const create = (name: string) => `
  const answer = await fetch('api/v1/namespaces/default/configmaps', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ metadata: { name: '${name}' } }),
  });
  return answer.status;`;
/** How long the engine took to start, which tells engines apart. */
const START = `return window.kubetab.state.startMs;`;
const SCREEN = `return document.querySelector('.terminal .xterm-rows').innerText;`;

async function types(tab: Tab, line: string, sees: RegExp): Promise<void> {
  await tab.type(`clear; ${line}\n`);
  await expect.poll(() => tab.run<string>(SCREEN), { timeout: 120_000 }).toMatch(sees);
}

describe.each([
  // WebKitGTK has no profile where a driver leads it: a reload is all there is.
  { name: 'Firefox', launch: firefox, hasProfile: true },
  { name: 'WebKit', launch: webkit, hasProfile: false },
])('$name', ({ launch, hasProfile }) => {
  const profile = mkdtempSync(join(tmpdir(), 'kubetab-browsers-'));
  let browser: Browser;
  let first: Tab;
  let second: Tab;
  beforeAll(async () => {
    browser = await launch(profile);
  });
  afterAll(async () => {
    await browser?.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  });

  test('a first visit becomes ready, and plain fetch reaches the API', async () => {
    const began = Date.now();
    first = await browser.open(site.url);
    await first.run(READY);
    console.info(`ready after ${Date.now() - began} ms`);
    await first.run(CONTROLLED);
    expect(await first.run(get('api/v1/namespaces/kube-system'))).toBe(200);
  });

  test('kubectl runs in the terminal, and applies', async () => {
    await first.run(
      `while (!document.querySelector('.terminal .xterm-rows')) await new Promise((r) => setTimeout(r, 50));`,
    );
    await types(first, 'kubectl get namespaces', /kube-system +Active/);
    const manifest = 'kubectl create deployment web --image=nginx --dry-run=client -o yaml';
    await types(first, `${manifest} | kubectl apply -f -`, /deployment.apps\/web created/);
    await types(first, 'kubectl rollout status deployment web', /successfully rolled out/);
  });

  test('a watch tells of a write', async () => {
    const event = await first.run<{ type: string; object: { metadata: { name: string } } }>(`
      const stop = new AbortController();
      const watch = await fetch('api/v1/namespaces/default/configmaps?watch=1', { signal: stop.signal });
      const write = (async () => { ${create('watched')} })();
      const reader = watch.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        const { value } = await reader.read();
        text += value;
        const line = text.split('\\n').slice(0, -1).find((each) => each.includes('"watched"'));
        if (!line) continue;
        await write;
        stop.abort();
        return JSON.parse(line);
      }`);
    expect(event).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'watched' } } });
  });

  test('two tabs are in one cluster', async () => {
    second = await browser.open(site.url);
    await second.run(READY);
    await second.run(CONTROLLED);
    expect(await second.run(get('api/v1/namespaces/default/configmaps/watched'))).toBe(200);
    expect(await second.run(create('from-the-second'))).toBe(201);
    expect(await first.run(get('api/v1/namespaces/default/configmaps/from-the-second'))).toBe(200);
  });

  test('the cluster is there for another engine, and in the browser of the next day', async () => {
    // The engine lives as long as one of the tabs does, or may come back to the page.
    const before = await first.run<number>(START);
    const third = await browser.open('about:blank');
    await first.close();
    await second.close();
    await third.open(site.url);
    await isThere(third);
    expect(await third.run<number>(START)).not.toBe(before);
    if (!hasProfile) return;
    await browser.close();
    browser = await launch(profile);
    const began = Date.now();
    const next = await browser.open(site.url);
    await next.run(READY);
    console.info(`ready again after ${Date.now() - began} ms`);
    await isThere(next);
    // A kubelet that starts looks at its Pods before they are ready again.
    await types(next, 'kubectl rollout status deployment web', /successfully rolled out/);
    await types(next, 'kubectl get deployments', /web +1\/1/);
  });

  /** Waits until a page is ready, and asks for what its cluster was given. */
  async function isThere(tab: Tab): Promise<void> {
    await tab.run(READY);
    await tab.run(CONTROLLED);
    for (const name of ['watched', 'from-the-second']) {
      expect(await tab.run(get(`api/v1/namespaces/default/configmaps/${name}`))).toBe(200);
    }
  }

  test('an example of a page of another site runs, in a cluster of its own', async () => {
    const docs = await docsSite({
      '/': `<!doctype html><html lang="en"><title>docs</title><script src="${site.url}embed.js" defer></script>
        <pre><code>kubectl create configmap example -o name; kubectl get configmap watched</code></pre>
        <kubetab-snippet></kubetab-snippet>`,
    });
    try {
      const page = await browser.open(docs.url);
      const result = await page.run(`
        await customElements.whenDefined('kubetab-snippet');
        const snippet = document.querySelector('kubetab-snippet');
        return new Promise((resolve, reject) => {
          snippet.addEventListener('result', ({ detail }) => resolve(detail));
          snippet.addEventListener('error', ({ detail }) => reject(detail));
          snippet.execute();
        });`);
      expect(result).toMatchObject({
        stdout: 'configmap/example\n',
        stderr: 'Error from server (NotFound): configmaps "watched" not found\n',
        exitCode: 1,
      });
    } finally {
      await docs.close();
    }
  });
});
