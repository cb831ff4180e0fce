import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { english } from '../../src/page/lessons/words';
import { docsSite, newReader, watchPlaces } from './docs-site';
import { lesson } from './learner';

// What pages of another site have of Kubetab, in a browser that lets no third party store anything.

const ROOT = resolve(import.meta.dirname, '../../..');
const BIN = join(ROOT, 'bin');

const reader = newReader();
const { openDocs, sample, strict, ends } = reader;

test.each([
  ['two panes', '?panes=terminal,picture', ''],
  ['the whole workbench, cut off from its origin', '', 'sandbox="allow-scripts"'],
])('a frame with %s', async (_, query, sandbox) => {
  const page = await openDocs(
    `<!doctype html><html lang="en"><title>docs</title><iframe ${sandbox} width="1100" height="600" src="${reader.url}embed.html${query}"></iframe>`,
  );
  const frame = page.frameLocator('iframe');
  await frame.locator('.pill.is-ready').waitFor();
  const origin = await page.frames()[1]?.evaluate(() => window.origin);
  expect(origin).toBe(sandbox ? 'null' : new URL(reader.url).origin);
  // No pane speaks of one that is not there.
  await frame.getByRole('button', { name: 'Put it into the terminal' }).waitFor();
  const isWhole = query === '';
  expect(await frame.getByText('Apply deployment.yaml in the editor').isVisible()).toBe(isWhole);
  expect(await frame.locator('.editor-pane .cm-content').count()).toBe(isWhole ? 1 : 0);
  await frame.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type('kubectl create deployment shop --image=nginx --replicas=2\r');
  await frame.getByText('deployment.apps/shop created').waitFor();
  await frame.locator('.picture').getByText('shop').first().waitFor();
  if (!isWhole) return;
  await frame.locator('.rail-console').click();
  await frame.locator('.code-badge').getByText('200 OK').waitFor();
});

test('a lesson in a frame, and the next one in the same frame', async () => {
  const page = await openDocs(
    `<!doctype html><html lang="en"><title>docs</title><iframe sandbox="allow-scripts" width="1100" height="600" src="${reader.url}embed.html?panes=lesson,terminal#/lesson/first/request"></iframe>`,
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
    `<!doctype html><html lang="en"><title>docs</title><iframe sandbox="allow-scripts" width="1100" height="600" src="${reader.url}embed.html?panes=lesson,terminal#/lesson/first/request/2"></iframe>`,
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
  ends.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const kubeconfig = join(folder, 'kubeconfig');
  const listen = ['--listen', '127.0.0.1:0', '--http', '', '--kubeconfig', kubeconfig];
  const server = spawn(join(BIN, 'kubetab'), ['serve', '--data-dir', 'data', ...listen], {
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

/** A block that prints what no other cluster and no other workspace has. */
const HANDED_OUT =
  "kubectl get configmap handed-out -o jsonpath='{.metadata.uid} {.metadata.resourceVersion}'; cat notes/note.txt";

/** The sample in a cluster that begins with the bundle of a native one, whose workspace has a file. */
async function withBundle(html: string, native: Awaited<ReturnType<typeof nativeShell>>) {
  await native.shell(`mkdir -p notes data/workspace && echo -n ' of a person' >notes/note.txt && cp -r notes data/workspace
kubectl create configmap handed-out && kubetab bundle save --kubeconfig "$KUBECONFIG" cluster.kubetab`);
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
  await page.route(`${reader.url}cluster.kubetab`, (route) =>
    route.fulfill({ body: Buffer.from(files['/cluster.kubetab']) }),
  );
  await page.evaluate((src) => {
    const frame = document.createElement('iframe');
    Object.assign(frame, { src, width: '900', height: '500' });
    document.body.append(frame);
  }, `${reader.url}embed.html?panes=terminal,files&bundle=cluster.kubetab`);
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
  // The editor has the file as well, and none that a newcomer would find.
  const listed = () => frame.locator('.file-menu option:not([value=""])').allTextContents();
  await expect.poll(listed).toEqual(['notes/note.txt']);

  // One that is torn is not taken for an empty cluster.
  await page.unroute(`${reader.url}cluster.kubetab`);
  await page.route(`${reader.url}cluster.kubetab`, (route) => route.fulfill({ body: 'torn' }));
  await page.locator('iframe').evaluate((element) => {
    (element as HTMLIFrameElement).src += '&again';
  });
  await frame.getByText('The file cannot be opened').waitFor();
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
  const last = page.locator('kubetab-snippet').last();
  await last.getByRole('button', { name: /Run|Apply/ }).waitFor();
  const places = await watchPlaces(page);
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
  await page.getByRole('button', { name: 'Run' }).last().click();
  await page.locator('kubetab-snippet:not([state=running])').last().waitFor();
  await page.getByRole('button', { name: 'Reset' }).last().click();
  expect(await places()).toHaveLength(1);
  // Nobody sees the frame of the engine, whatever the page says of frames.
  expect(await page.locator('body > iframe').isVisible()).toBe(false);
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
<script src="codapi.js" defer></script><script src="${reader.url}embed-codapi.js" defer></script>
<p id="note">a note</p>
${blocks.map(([sandbox, code]) => `<pre><code>${code}</code></pre><codapi-snippet engine="kubetab" sandbox="${sandbox}" files="#note:note.txt"></codapi-snippet>`).join('\n')}`,
    '/codapi.js': readFileSync(codapi, 'utf8'),
  });
  ends.push(() => docs.close());
  const page = await reader.context.newPage();
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
