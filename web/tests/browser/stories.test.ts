import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { launch, ready } from './browser';
import { Gate, plain, type Site } from './site';

// What a learner does between the picture, the editor and the inspector, in the order in which they might.

let browser: Browser;
let site: Site;
let context: BrowserContext;
let page: Page;
const complaints: string[] = [];
/** No engine is ready before the first test has seen the page without one. */
const gate = new Gate();

beforeAll(async () => {
  gate.close();
  [browser, site] = await Promise.all([launch(), plain({ gate })]);
  context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    const { url } = message.location();
    const known = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !known) complaints.push(`${message.text()} ${url}`);
  });
  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto(site.url);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});
afterEach(() => {
  expect(complaints.splice(0)).toEqual([]);
});

const show = (hash: string) =>
  page.evaluate((to) => {
    location.hash = to;
  }, hash);
const button = (name: string) => page.getByRole('button', { name, exact: true });
const outcome = () => page.getByRole('region', { name: 'What the API server said' });
const pods = (phase: string) => page.locator(`.stage .pod-${phase}`);
const editor = () => page.locator('.editor-pane .cm-content');
const details = () => page.getByRole('region', { name: 'Request details' });
const logRow = (text: string | RegExp) => page.locator('table.log tbody tr', { hasText: text });

/** A write of somebody else's. */
async function send(method: string, path: string, body: unknown, type = 'application/json') {
  await page.evaluate(
    async ([verb, to, text, contentType]) => {
      const answer = await window.kubetab.direct?.request(to as string, {
        method: verb as string,
        headers: { 'Content-Type': contentType as string },
        body: (text as string) || null,
      });
      if (!answer?.ok) throw new Error(`${verb} ${to}: ${await answer?.text()}`);
    },
    [method, path, body === null ? '' : JSON.stringify(body), type],
  );
}

test('what is asked for while the engine starts is done when it is ready', async () => {
  await editor().waitFor();
  await button('Apply').click();
  await outcome().getByText('This runs as soon as the API server is ready.').waitFor();
  gate.open();
  await ready(page);
  await outcome().getByText('Deployment web created').waitFor();
});

test('a Deployment rolls out in the picture: Pods run on nodes, joined to their owner', async () => {
  await expect.poll(() => pods('running').count()).toBe(3);
  await page.locator('.box.owner', { hasText: 'web' }).getByText('3/3').waitFor();
  await page.locator('.box.owner', { hasText: 'web' }).hover();
  await expect.poll(() => page.locator('.line-owner.is-lit').count()).toBe(3);
});

test('an object is scaled from its page, with the command that does the same', async () => {
  await page.locator('.box.owner', { hasText: 'web' }).click();
  await page.locator('.action-buttons').getByRole('button', { name: 'Scale' }).click();
  await page.getByLabel('Replicas').fill('5');
  await page.getByText('kubectl scale deployment/web --replicas=5 -n default').waitFor();
  await page.locator('.confirm').getByRole('button', { name: 'Scale' }).click();
  await show('#cluster');
  await expect.poll(() => pods('running').count()).toBe(5);
});

test('a conflict names the owner of the field; to agree puts its value into the file', async () => {
  await button('Apply').click();
  await outcome().getByText('spec.replicas', { exact: true }).waitFor();
  await outcome().getByText('kubetab-page').waitFor();
  await button('Agree').click();
  await outcome()
    .getByText(/Deployment web (configured|unchanged)/)
    .waitFor();
  await editor().getByText('replicas: 5').waitFor();
});

test('to take over makes the file win', async () => {
  await send(
    'PATCH',
    '/apis/apps/v1/namespaces/default/deployments/web?fieldManager=alice&force=true',
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 2 } },
    'application/apply-patch+yaml',
  );
  await button('Apply').click();
  await outcome().getByText('alice').waitFor();
  await button('Take them over').click();
  await outcome().getByText('Deployment web configured').waitFor();
  await expect.poll(() => pods('running').count()).toBe(5);
});

test('to leave takes the field out of the file', async () => {
  await send(
    'PATCH',
    '/apis/apps/v1/namespaces/default/deployments/web?fieldManager=alice&force=true',
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 4 } },
    'application/apply-patch+yaml',
  );
  await button('Apply').click();
  await outcome().getByText('alice').waitFor();
  await button('Leave them').click();
  await outcome()
    .getByText(/Deployment web (configured|unchanged)/)
    .waitFor();
  expect(await editor().textContent()).not.toContain('replicas');
  await expect.poll(() => pods('running').count()).toBe(4);
});

test('a diff shows what a change would do, and keeps nothing', async () => {
  await editor().getByText('nginx:1.27').click();
  await page.keyboard.press('End');
  await page.keyboard.type('-alpine');
  await button('Diff').click();
  await page.locator('.diff .cm-changedLine', { hasText: 'nginx:1.27-alpine' }).waitFor();
  await page.keyboard.press('Control+z');
});

test('a kind of your own: defined, completed, and its rule refuses at its line', async () => {
  await show('#files');
  await page.locator('.file-list').getByText('boats.yaml').click();
  await button('Apply').click();
  await outcome().getByText('CustomResourceDefinition boats.harbour.example.com created').waitFor();
  await page.locator('.file-list').getByText('boat.yaml', { exact: true }).click();
  await button('Apply').click();
  await outcome()
    .getByText(/everybody needs a berth/)
    .first()
    .waitFor();
  await outcome().getByRole('button', { name: 'Line 5 in boat.yaml' }).click();
  await editor().getByText('ketch').click();
  await page.keyboard.press('End');
  await page.keyboard.press('Shift+Home');
  await page.keyboard.type('rig: ');
  // The schema of a new kind is there a moment after the kind.
  const choices = page.locator('.cm-tooltip-autocomplete');
  await expect
    .poll(async () => {
      await page.keyboard.press('Control+Space');
      return choices.getByText('schooner').count();
    })
    .toBe(1);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(
    'apiVersion: harbour.example.com/v1\nkind: Boat\nmetadata:\n  name: albatross\nspec:\n  crew: 2\n  berths: 3\n  rgi: sloop\n',
  );
  await page.locator('.cm-lintRange-error').getByText('rgi').waitFor();
  await editor().getByText('rgi').dblclick();
  await page.keyboard.type('rig');
  // A table that is looked at while there is nothing in it has its columns when something comes.
  await show('#cluster/apis/harbour.example.com/v1/boats');
  const none = page.getByText('No Boat in this cluster.');
  await none.waitFor();
  const below = async (part: Locator) => (await part.boundingBox())?.y ?? Number.NaN;
  expect((await below(none)) - (await below(page.locator('.objects')))).toBeLessThan(80);
  await button('Apply').click();
  await outcome().getByText('Boat albatross created').waitFor();
  await page.getByRole('link', { name: 'albatross' }).waitFor();
  const header = page.locator('.objects thead');
  for (const column of ['Name', 'Crew', 'Berths']) {
    await header.getByText(column, { exact: true }).waitFor();
  }
  // The list of kinds has it, too, and counts it.
  await page
    .locator('.kinds')
    .getByRole('button', { name: /^Boat\s*1$/ })
    .waitFor();
});

test('a table has all of its columns in sight beside the editor', async () => {
  await show('#cluster/api/v1/pods');
  await page.locator('.object-name').first().waitFor();
  await expect
    .poll(() => page.locator('.objects').evaluate((e) => e.scrollWidth - e.clientWidth))
    .toBe(0);
});

test('every request is in the inspector, with who made it and what it carried', async () => {
  await page.keyboard.press('Control+j');
  await page.getByPlaceholder(/^Filter by path/).fill('patch albatross');
  await logRow('201').first().click();
  await details().getByText('patch boats albatross in default').waitFor();
  await details().locator('.facts').getByText('editor', { exact: true }).waitFor();
  await details().getByRole('tab', { name: 'Request' }).click();
  await details().getByText('"crew"').first().waitFor();
  await details().getByRole('tab', { name: 'Response' }).click();
  await details().getByText('"uid"').first().waitFor();
  await details().getByRole('tab', { name: 'Audit' }).click();
  await details().getByText('audit.k8s.io/v1').first().waitFor();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await details().getByRole('button', { name: 'kubectl', exact: true }).click();
  await details().getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
    'kubectl apply --server-side --field-manager=kubetab-editor -n default',
  );
});

test('the audit event of a request has as much as the chosen level says', async () => {
  const level = details().getByLabel('Level from now on');
  const chosen = () =>
    page.evaluate(async () => {
      const answer = await window.kubetab.direct?.request('/kubetab/requests/audit');
      return ((await answer?.json()) as { level: string } | undefined)?.level;
    });
  const configmaps = '/api/v1/namespaces/default/configmaps';
  await details().getByRole('tab', { name: 'Audit' }).click();
  await details().getByText('RequestReceived').waitFor();
  expect(await details().getByText('requestObject:').count()).toBe(0);
  await level.selectOption('Request');
  await expect.poll(chosen).toBe('Request');
  await send('POST', configmaps, { metadata: { name: 'audited' } });
  await page.getByPlaceholder(/^Filter by path/).fill('create configmaps');
  await logRow('201').first().click();
  await details().getByRole('tab', { name: 'Audit' }).click();
  await details().getByText('requestObject:').first().waitFor();
  await level.selectOption('Metadata');
  await expect.poll(chosen).toBe('Metadata');
  await send('DELETE', `${configmaps}/audited`, null);
});

test('a watch of a script is seen live, and its end too', async () => {
  await page.getByPlaceholder(/^Filter by path/).fill('configmaps watch');
  await page.evaluate(async () => {
    const controller = new AbortController();
    Object.assign(window, { stopWatch: () => controller.abort() });
    await window.kubetab.direct?.request('/api/v1/namespaces/default/configmaps?watch=1', {
      signal: controller.signal,
    });
  });
  const row = logRow('script');
  await row.click();
  await send('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'seen' } });
  await details().locator('.event', { hasText: 'seen' }).first().waitFor();
  expect(await row.locator('.verb-watch', { hasText: 'stream' }).count()).toBe(1);
  await page.evaluate(() => (window as unknown as { stopWatch(): void }).stopWatch());
  await row.locator('.col-time .faint').waitFor();
  await page.getByPlaceholder(/^Filter by path/).fill('');
  await page.keyboard.press('Control+j');
});

test('kubectl watches in the terminal while the editor changes; Ctrl C ends the request', async () => {
  const terminal = page.locator('.terminal-place');
  const screen = terminal.locator('.xterm-rows');
  await terminal.locator('.xterm').click();
  await page.keyboard.press('Control+u');
  await page.keyboard.type('kubectl get configmaps -w\n');
  await screen.getByText('kube-root-ca.crt').first().waitFor();
  // In a terminal Ctrl J is a key like any other.
  await page.locator('.rail-requests').click();
  const row = logRow('kubectl get').filter({ hasText: 'stream' }).first();
  await row.locator('.col-time .verb-watch').waitFor();
  await send('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'appears' } });
  await screen.getByText('appears').waitFor();
  await terminal.locator('.xterm').click();
  await page.keyboard.press('Control+c');
  await row.locator('.col-time .faint').waitFor();
  await page.locator('.rail-requests').click();
});

test('the terminal and the editor share their files', async () => {
  await page.locator('.terminal-place .xterm').click();
  await page.keyboard.type('echo "a: 1" > from-the-terminal.yaml\n');
  await show('#files');
  await page.locator('.file-list').getByText('from-the-terminal.yaml').click();
  await editor().getByText('a').first().waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to or run' }).waitFor();
  await page.keyboard.type('service.yaml');
  await page.getByRole('option', { name: /^service.yaml/ }).waitFor();
  await page.keyboard.press('Enter');
  await button('Apply').click();
  await outcome().getByText('Service web created').waitFor();
  await show('#cluster');
  await page.locator('.box.service', { hasText: 'web' }).waitFor();
});

test('a viewer is refused with 403, and sees no Secrets', async () => {
  await page.getByLabel('Acting as').selectOption('kubetab-view');
  await show('#cluster/api/v1/secrets');
  await page.getByText(/User "kubetab-view" cannot (list|watch) resource "secrets"/).waitFor();
  await show('#cluster/api/v1/configmaps');
  await page.getByRole('link', { name: 'seen' }).click();
  await page.locator('.action-buttons').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('kubectl delete configmap/seen -n default').waitFor();
  await page.locator('.confirm').getByRole('button', { name: 'Delete' }).click();
  await page
    .getByRole('alert')
    .getByText(/"kubetab-view" cannot delete resource "configmaps"/)
    .waitFor();
  await page.locator('.confirm').getByRole('button', { name: 'Cancel' }).click();
  await page.getByLabel('Acting as').selectOption('kubetab-admin');
  await page.locator('.action-buttons').getByRole('button', { name: 'Delete' }).click();
  await page.locator('.confirm').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('This object does not exist, or not any more.').waitFor();
});

test('names, annotations and messages that look like markup stay text everywhere', async () => {
  const hostile = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
  await send('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'hostile', annotations: { note: hostile }, labels: { a: 'b' } },
    data: { text: hostile },
  });
  await send('POST', '/api/v1/namespaces/default/events', {
    metadata: { name: 'hostile' },
    involvedObject: { kind: 'ConfigMap', namespace: 'default', name: 'hostile' },
    type: 'Warning',
    reason: hostile,
    message: `${hostile}\u001b]8;;javascript:1\u0007`,
  });
  await show('#cluster/api/v1/events');
  await page.getByText('onerror').first().waitFor();
  await show('#cluster/api/v1/namespaces/default/configmaps/hostile');
  await page.getByText('onerror').first().waitFor();
  await page.locator('#object-view-yaml').click();
  await page.locator('.yaml-view .cm-content').getByText('onerror').first().waitFor();
  // In a path, a header, a file and its name, and what the server says to it.
  await page.evaluate(
    async (text) =>
      window.kubetab.direct?.request(`/api/v1/pods?fieldSelector=${encodeURIComponent(text)}`, {
        headers: { 'Kubectl-Command': text, 'X-Note': text },
      }),
    hostile,
  );
  await page.keyboard.press('Control+j');
  await logRow('onerror').first().click();
  await details().getByRole('tab', { name: 'Overview' }).click();
  await details().getByText('onerror').first().waitFor();
  await button('New file').click();
  await editor().click();
  await page.keyboard.insertText(
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: '${hostile}'\n`,
  );
  await button('Check').click();
  await outcome()
    .getByText(/onerror/)
    .first()
    .waitFor();
  expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
  expect(await page.locator('#page img:not(.cm-widgetBuffer), #page script').count()).toBe(0);
  await page.keyboard.press('Control+j');
});

test('files are there after a reload, and the place in the cluster', async () => {
  await show('#cluster/api/v1/pods');
  await page.reload();
  await ready(page);
  await page.locator('.object-name').first().waitFor();
  await show('#files');
  await page.locator('.file-list').getByText('manifest.yaml').waitFor();
});

test('a thousand Pods: no task of the page takes 200 ms of a processor', async () => {
  await show('#cluster');
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  await page.evaluate(async () => {
    // No node takes them: what is asked of the page is to draw them, and not of the engine to run them.
    const pod = (i: number) => ({
      metadata: { name: `many-${i}` },
      spec: { nodeSelector: { none: 'such' }, containers: [{ name: 'main', image: 'nginx' }] },
    });
    const post = async (i: number) => {
      const answer = await window.kubetab.direct?.request('/api/v1/namespaces/default/pods', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(pod(i)),
      });
      await answer?.text();
    };
    for (let i = 0; i < 1000; i += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, k) => post(i + k)));
    }
  });
  await expect.poll(() => pods('pending').count()).toBe(1000);
  await show('#cluster/api/v1/pods');
  await page.getByText('1004', { exact: true }).first().waitFor();
  await page.locator('.objects').evaluate((element) => element.scrollTo(0, 15_000));
  await page
    .getByRole('link', { name: /^many-5/ })
    .first()
    .waitFor();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: readonly TraceEvent[];
  };
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(
    ({ pid, tid, tdur }) => tdur !== undefined && threads.has(`${pid} ${tid}`),
  );
  expect(tasks.length).toBeGreaterThan(1000);
  // The processor's time and not the clock's: other programs may be running.
  expect(Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1000))).toBeLessThan(200);
});

/** As far as it is read here; `tdur` is in microseconds of the thread's own time. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}
