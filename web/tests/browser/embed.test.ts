import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { english } from '../../src/page/lessons/words';
import { docsSite, withoutThirdParties } from './docs-site';
import { lesson } from './learner';
import { plain, type Site } from './site';

// What pages of another site have of Kubetab, in a browser that lets no third party store anything.

const ROOT = resolve(import.meta.dirname, '../../..');
const SAMPLES = join(ROOT, 'docs/samples');
const BIN = join(ROOT, 'bin');

let site: Site;
let context: BrowserContext;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  site = await plain();
  context = await withoutThirdParties();
});
afterAll(async () => {
  await context?.close();
  await site?.close();
});
afterEach(async () => {
  for (const page of context.pages()) await page.close();
  for (const end of ends.splice(0).reverse()) await end();
});

async function openDocs(
  html: string,
  headers: Record<string, string> = {},
  files: Record<string, Uint8Array> = {},
): Promise<Page> {
  const css = ['plain.css', 'vitepress.css'].map((name) => [`/${name}`, sample(name)]);
  const docs = await docsSite({ '/': html, ...Object.fromEntries(css), ...files }, headers);
  ends.push(() => docs.close());
  const page = await context.newPage();
  await page.goto(docs.url);
  return page;
}

function sample(name: string): string {
  const html = readFileSync(resolve(SAMPLES, name), 'utf8');
  return html.replaceAll('https://kubetab.example/', site.url);
}

/** What the host page of the samples must allow, and nothing beside it. */
const strict = () => ({
  'Content-Security-Policy': `default-src 'none'; style-src 'self'; script-src ${new URL(site.url).origin}; frame-src ${new URL(site.url).origin}; require-trusted-types-for 'script'`,
});

test.each(['', 'sandbox="allow-scripts"'])('panes in a frame with %j', async (sandbox) => {
  const page = await openDocs(
    `<!doctype html><html lang="en"><title>docs</title><iframe ${sandbox} width="900" height="500" src="${site.url}embed.html?panes=terminal,picture"></iframe>`,
  );
  const frame = page.frameLocator('iframe');
  await frame.locator('.pill.is-ready').waitFor();
  const origin = await page.frames()[1]?.evaluate(() => window.origin);
  expect(origin).toBe(sandbox ? 'null' : new URL(site.url).origin);
  await frame.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type('kubectl create deployment shop --image=nginx --replicas=2\r');
  await frame.getByText('deployment.apps/shop created').waitFor();
  await frame.locator('.picture').getByText('shop').first().waitFor();
});

test('a lesson in a frame, and the next one in the same frame', async () => {
  const page = await openDocs(
    `<!doctype html><html lang="en"><title>docs</title><iframe sandbox="allow-scripts" width="1100" height="600" src="${site.url}embed.html?panes=lesson,terminal#/lesson/first/request"></iframe>`,
  );
  const frame = page.frameLocator('iframe');
  const title = (id: string) =>
    frame.locator('.step-title', { hasText: lesson(id).steps[0]?.title ?? id });
  const looking = async () => {
    await frame.locator('.pill.is-ready').waitFor();
    await frame.locator('.checks').waitFor();
    await frame.locator('.checks-wait').waitFor({ state: 'detached' });
  };
  await title('first/request').waitFor();
  await looking();
  await frame.locator('.xterm-helper-textarea').focus();
  await page.keyboard.press('Control+u');
  await page.keyboard.type('kubectl get namespaces\r');
  await frame.locator('.check.is-done').first().waitFor();
  expect(await frame.locator('.lesson-note').count()).toBe(0);

  const inside = page.frames()[1];
  await inside?.evaluate(() => Object.assign(window, { first: true }));
  await frame.locator('.lesson-steps button').last().click();
  await frame.getByRole('button', { name: english.finish }).click();
  await expect.poll(() => inside?.evaluate(() => 'first' in window).catch(String)).toBe(false);
  await title('first/paths').waitFor();
  await looking();
  await frame.locator('.check:not(.is-done)').first().waitFor();
});

test('a lesson in a frame begins with the step of its address', async () => {
  const page = await openDocs(
    `<!doctype html><html lang="en"><title>docs</title><iframe sandbox="allow-scripts" width="1100" height="600" src="${site.url}embed.html?panes=lesson,terminal#/lesson/first/request/2"></iframe>`,
  );
  const frame = page.frameLocator('iframe');
  const [, second] = lesson('first/request').steps;
  await frame.getByRole('heading', { name: second?.title ?? '', exact: true }).waitFor();
  await frame.locator('.lesson-steps [aria-current=step]').waitFor();
  expect(await frame.locator('.lesson-steps button').nth(1).getAttribute('aria-current')).toBe(
    'step',
  );
});

/** Runs every snippet of a page, one after the other, and returns what each has run and printed. */
async function runAll(page: Page) {
  const runs: { readonly code: string; readonly kind: string; readonly printed: string }[] = [];
  const snippets = page.locator('kubetab-snippet');
  await snippets
    .last()
    .getByRole('button', { name: /Run|Apply/ })
    .waitFor();
  for (let i = 0; i < (await snippets.count()); i++) {
    const result = snippets.nth(i).evaluate(
      (snippet) =>
        new Promise<{ code: string; printed: string }>((resolve, reject) => {
          let code = '';
          snippet.addEventListener('execute', (event) => {
            code = (event as CustomEvent).detail;
          });
          snippet.addEventListener('result', (event) => {
            const { stdout, stderr } = (event as CustomEvent).detail;
            resolve({ code, printed: stdout + stderr });
          });
          snippet.addEventListener('error', (event) => reject((event as CustomEvent).detail));
        }),
    );
    const button = snippets.nth(i).getByRole('button', { name: /Run|Apply/ });
    const kind = (await button.textContent()) ?? '';
    await button.click();
    runs.push({ ...(await result), kind });
  }
  return runs;
}

/** A native cluster of its own, and bash with bin/kubectl. */
async function nativeShell() {
  const folder = mkdtempSync(join(tmpdir(), 'kubetab-embed-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  const listen = ['--listen', '127.0.0.1:0', '--http', '', '--kubeconfig', kubeconfig];
  const server = spawn(join(BIN, 'kubetab'), ['serve', ...listen], {
    stdio: 'ignore',
    cwd: folder,
  });
  ends.push(async () => {
    const over = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await over;
  });
  const run = promisify(execFile);
  const environment = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    PATH: `${BIN}:${process.env.PATH}`,
  };
  const shell = async (lines: string) => {
    const { stdout, stderr } = await run('bash', ['-c', lines], { cwd: folder, env: environment });
    return stdout + stderr;
  };
  const isUp = () => shell('kubectl get --raw /readyz && kubectl get sa default -o name');
  await expect.poll(() => isUp().catch(String)).toMatch(/^ok/);
  return { folder, shell };
}

/** A block that prints what no other cluster has. */
const HANDED_OUT =
  "kubectl get configmap handed-out -o jsonpath='{.metadata.uid} {.metadata.resourceVersion}'";

/** The sample in a cluster that begins with the bundle of a native one. */
async function withBundle(html: string, native: Awaited<ReturnType<typeof nativeShell>>) {
  await native.shell(
    'kubectl create configmap handed-out && kubetab bundle save --kubeconfig "$KUBECONFIG" cluster.kubetab',
  );
  const page = html
    .replace('data-selector', 'data-bundle="cluster.kubetab" data-selector')
    .replace(
      '</main>',
      `<div class="language-sh"><pre><code>${HANDED_OUT}</code></pre></div></main>`,
    );
  return {
    page,
    files: { '/cluster.kubetab': readFileSync(join(native.folder, 'cluster.kubetab')) },
  };
}

test('a frame begins with the native cluster that its address names, from the snapshot', async () => {
  const native = await nativeShell();
  const { files } = await withBundle('', native);
  const page = await openDocs('<!doctype html><html lang="en"><title>docs</title>');
  await page.route(`${site.url}cluster.kubetab`, (route) =>
    route.fulfill({ body: Buffer.from(files['/cluster.kubetab']) }),
  );
  await page.evaluate((src) => {
    const frame = document.createElement('iframe');
    Object.assign(frame, { src, width: '900', height: '500' });
    document.body.append(frame);
  }, `${site.url}embed.html?panes=terminal&bundle=cluster.kubetab`);
  const frame = page.frameLocator('iframe');
  await frame.locator('.pill.is-ready').waitFor();
  const from = await page.frames()[1]?.evaluate(() => {
    const { state } = window.kubetab;
    return state?.phase === 'ready' ? state.run.from : state?.phase;
  });
  expect(from).toBe('snapshot');
  await frame.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type(`${HANDED_OUT}; echo .\r`);
  await frame.getByText(`${await native.shell(HANDED_OUT)}.`).waitFor();
});

// VitePress writes its colours as attributes of elements, which a policy for styles has to allow.
test.each([
  ['plain.html', strict, {}],
  [
    'hugo.html',
    strict,
    { 'https://k8s.io/examples/application/deployment.yaml': 'application/deployment.yaml' },
  ],
  ['vitepress.html', () => ({}), {}],
])('%s: its snippets print what kubectl prints', async (name, headers, files) => {
  const native = await nativeShell();
  const isBundled = name === 'vitepress.html';
  const shown = isBundled
    ? await withBundle(sample(name), native)
    : { page: sample(name), files: {} };
  const page = await openDocs(shown.page, headers(), shown.files);
  const height = () => page.evaluate(() => document.documentElement.scrollHeight);
  const runs = await runAll(page);
  expect(runs.some(({ code }) => code === HANDED_OUT)).toBe(isBundled);
  for (const { code, kind, printed } of runs) {
    let lines = code.replace(/^\$ /gm, '');
    for (const [address, path] of Object.entries(files)) lines = lines.replace(address, path);
    if (/Apply/.test(kind)) {
      const path = join(
        native.folder,
        name === 'plain.html' ? 'shop.yaml' : 'application/deployment.yaml',
      );
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, code);
      lines = `kubectl apply -f ${path}`;
    } else if (/shop\.yaml/.test(lines)) {
      const manifest = await page.locator('#manifest').textContent();
      writeFileSync(join(native.folder, 'shop.yaml'), manifest ?? '');
    }
    expect(printed, lines).toBe(await native.shell(lines));
  }
  const before = await height();
  await page.getByRole('button', { name: 'Run' }).last().click();
  await page.locator('kubetab-snippet:not([state=running])').last().waitFor();
  expect(await height()).toBe(before);
});

test('before anything has run, a page has fetched one script', async () => {
  const fetched: string[] = [];
  const docs = await docsSite({ '/': sample('plain.html'), '/plain.css': '' });
  ends.push(() => docs.close());
  const page = await context.newPage();
  let bytes = 0;
  page.on('response', async (response) => {
    if (!response.url().startsWith(site.url)) return;
    fetched.push(new URL(response.url()).pathname);
    bytes += Number((await response.allHeaders())['content-length']);
  });
  await page.goto(docs.url);
  await page.getByRole('button', { name: 'Run' }).last().waitFor();
  await page.waitForLoadState('networkidle');
  expect(fetched).toEqual(['/embed.js']);
  expect(bytes).toBeLessThan(8192);
});

test('where nothing can run, the text stays and a sentence says why', async () => {
  const page = await openDocs(sample('plain.html'), strict());
  await page.route('**/embed.html*', (route) => route.abort());
  const snippet = page.locator('#scale');
  await snippet.getByRole('button', { name: 'Run' }).click();
  await snippet.getByText(/This cannot run here now/).waitFor();
  await page.locator('#expected').getByText('deployment.apps/shop scaled').waitFor();
  // The next try may find the network there again.
  await page.unroute('**/embed.html*');
  await snippet.getByRole('button', { name: 'Run' }).click();
  await page.locator('#scale[state=succeded]').waitFor();
  await snippet.getByRole('button', { name: 'Reset' }).click();
  await page.locator('#expected').getByText('deployment.apps/shop scaled').waitFor();
});

const ran = (id: string) => `#${id}:not([state=running])[state]`;

test('a block prints as it goes and can be stopped, and shells last', async () => {
  const page =
    await openDocs(`<!doctype html><html lang="en"><meta charset="utf-8"><title>docs</title>
<script src="${site.url}embed.js" data-setup="#setup" data-eager defer></script>
<script type="application/yaml" id="setup">{apiVersion: v1, kind: ConfigMap, metadata: {name: laid-out}}</script>
<script type="text/plain" id="greeting">greet() { echo "hello, $*"; }
##CODE##</script>
<pre><code>kubectl get configmap -w -o name</code></pre><kubetab-snippet id="watch" session="both"></kubetab-snippet>
<pre><code>kubectl create configmap made; name=value; cd /tmp</code></pre><kubetab-snippet id="make"></kubetab-snippet>
<pre><code>echo "$name, $PWD"</code></pre><kubetab-snippet id="after" depends-on="make"></kubetab-snippet>
<pre><code>echo "$?, $name"</code></pre><kubetab-snippet id="other" session="both"></kubetab-snippet>
<pre><code>greet '$&'</code></pre><kubetab-snippet id="greet" template="#greeting"></kubetab-snippet>`);
  const button = (id: string, name: string) => page.locator(`#${id}`).getByRole('button', { name });
  const output = (id: string) => page.locator(`#${id} .output`);
  // Nobody has clicked, and the engine begins.
  await page.waitForSelector('iframe[src*="embed.html"]', { state: 'attached' });

  await button('watch', 'Run').click();
  const height = () =>
    page.locator('#watch').evaluate((snippet) => (snippet as HTMLElement).offsetHeight);
  const before = await height();
  await expect.poll(() => output('watch').textContent()).toContain('configmap/laid-out\n');

  // A block that depends on another has its shell.
  await button('after', 'Run').click();
  await page.waitForSelector(ran('after'));
  expect(await output('after').textContent()).toBe('value, /tmp\n');
  await expect.poll(() => output('watch').textContent()).toContain('configmap/made\n');
  expect(await page.locator('#watch').getAttribute('state')).toBe('running');

  // One block of a shell at a time.
  await button('other', 'Run').click();
  await page.locator('#other').getByText('Waits for another block to end').waitFor();
  await button('watch', 'Stop').click();
  await page.waitForSelector(ran('other'));
  expect(await output('other').textContent()).toBe('130, \n');
  await page.locator('#watch').getByText('Stopped').waitFor();
  expect(await output('watch').textContent()).toContain('configmap/made\n');
  expect(await height()).toBe(before);

  await button('make', 'Run').waitFor();
  await button('after', 'Reset').click();
  await page.locator('#make').evaluate((snippet) => {
    (snippet as HTMLElement & { code: string }).code = 'echo "$name." && pwd';
  });
  await button('make', 'Run').click();
  await page.waitForSelector(ran('make'));
  expect(await output('make').textContent()).toBe('.\n/home/kubetab\n');

  await button('greet', 'Run').click();
  await page.waitForSelector(ran('greet'));
  expect(await output('greet').textContent()).toBe('hello, $&\n');
});

test('an engine for codapi: its snippets print what kubectl prints', async () => {
  const native = await nativeShell();
  const codapi = createRequire(import.meta.url).resolve('@antonz/codapi/dist/snippet.js');
  const blocks = [
    [
      'kubectl',
      `kubectl create configmap notes --from-file=note.txt\nkubectl get configmap notes -o jsonpath='{.data}'`,
    ],
    ['kubectl', 'kubectl get configmap notes -o name; kubectl get nothing'],
    ['yaml', '{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}'],
  ] as const;
  const docs = await docsSite({
    '/': `<!doctype html><html lang="en"><title>docs</title>
<script src="codapi.js" defer></script><script src="${site.url}embed-codapi.js" defer></script>
<p id="note">a note</p>
${blocks.map(([sandbox, code]) => `<pre><code>${code}</code></pre><codapi-snippet engine="kubetab" sandbox="${sandbox}" files="#note:note.txt"></codapi-snippet>`).join('\n')}`,
    '/codapi.js': readFileSync(codapi, 'utf8'),
  });
  ends.push(() => docs.close());
  const page = await context.newPage();
  await page.goto(docs.url);
  writeFileSync(join(native.folder, 'note.txt'), 'a note\n');
  for (const [i, [sandbox, code]] of blocks.entries()) {
    const snippet = page.locator('codapi-snippet').nth(i);
    await snippet.getByRole('button', { name: 'Run' }).click();
    await snippet.and(page.locator('[state=succeded], [state=failed]')).waitFor();
    if (sandbox === 'yaml') writeFileSync(join(native.folder, 'it.yaml'), code);
    const lines = sandbox === 'yaml' ? 'kubectl apply -f it.yaml' : code;
    expect(await snippet.locator('codapi-output code').textContent()).toBe(
      await native.shell(`{ ${lines}\n} 2>&1 || true`),
    );
  }
  expect(await page.locator('codapi-snippet[state=failed]').count()).toBe(1);
});
