import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { english as control } from '../../src/page/control/words';
import { english as sharing } from '../../src/page/share/words';
import { english } from '../../src/page/words';
import { inSharedWorker, ready } from './browser';
import { Camera, show } from './camera';
import { takeClock, takeSharing } from './sights';
import { Gate } from './site';
import { newBrowser } from './visitors';

// Every state of the page in both themes and three sizes: axe on each, and with KUBETAB_PICTURES=1 a picture for people to
// look at.

/** Closed while the page is looked at that waits for its engine. */
const gate = new Gate();
const here = newBrowser(gate);

/** Makes what the pictures show: Pods that run, one that cannot, a kind with a rule, and a name that is long. */
async function populate(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const post = async (path: string, object: unknown) => {
      const answer = await window.kubetab.direct?.request(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(object),
      });
      if (!answer?.ok) throw new Error(`${path}: ${await answer?.text()}`);
    };
    const deployment = (name: string, replicas: number, image: string) => ({
      metadata: { name },
      spec: {
        replicas,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: { containers: [{ name: 'main', image }] },
        },
      },
    });
    const apps = '/apis/apps/v1/namespaces/default/deployments';
    await post(apps, deployment('api', 4, 'nginx:1.27'));
    await post(apps, deployment('a-worker-with-a-rather-long-name', 2, 'nginx:1.26'));
    await post('/api/v1/namespaces/default/services', {
      metadata: { name: 'api' },
      spec: { selector: { app: 'api' }, ports: [{ port: 80 }] },
    });
    await post('/api/v1/namespaces/default/pods', {
      metadata: { name: 'nowhere-to-go' },
      spec: {
        nodeSelector: { disk: 'none-such' },
        containers: [{ name: 'main', image: 'nginx:1.27' }],
      },
    });
  });
}

describe('every state', () => {
  let page: Page;
  let camera: Camera;

  beforeAll(async () => {
    const context = await here.browser.newContext({
      colorScheme: 'light',
      reducedMotion: 'reduce',
    });
    page = await context.newPage();
    await page.setViewportSize({ width: 1440, height: 900 });
    camera = new Camera(page, { themes: ['light', 'dark'], sizes: ['wide', 'middle', 'phone'] });
    gate.close();
    await page.goto(here.url);
  });

  const take = (name: string, phone?: string | (() => Promise<void>)) => camera.take(name, phone);
  const go = (hash: string) => show(page, hash);
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const tab = (name: string) => page.getByRole('tab', { name, exact: true });
  const editor = () => page.locator('.editor-pane');

  test('starting', async () => {
    await page
      .getByText(/Downloading|Starting/)
      .first()
      .waitFor();
    await page.getByText('The picture appears as soon as').waitFor();
    await take('starting');
    gate.open();
  });

  test('an empty cluster', async () => {
    await ready(page);
    await page.getByText('No Pods in this cluster yet.').waitFor();
    await editor().locator('.cm-content').waitFor();
    await take('empty');
  });

  test('the picture', async () => {
    await populate(page);
    await expect.poll(() => page.locator('.stage .pod-running').count()).toBe(6);
    await page.locator('.stage .pod-pending').waitFor();
    await page.locator('.box.owner').getByText('api', { exact: true }).hover();
    await take('picture');
    await page.mouse.move(0, 0);
  });

  test('a table', async () => {
    await go('#cluster/api/v1/pods');
    await page.getByRole('link', { name: 'nowhere-to-go' }).waitFor();
    await take('table');
  });

  test('an object', async () => {
    await go('#cluster/apis/apps/v1/namespaces/default/deployments/api');
    await page.getByText('MinimumReplicasAvailable').waitFor();
    await button('Scale').click();
    await take('object');
    await page.keyboard.press('Escape');
    await tab('YAML').click();
    await page.getByLabel('Field owners').check();
    await page.locator('.yaml-view .cm-note').first().waitFor();
    await take('owners');
  });

  test('files', async () => {
    await go('#files');
    await page.locator('.file-list').getByText('boat.yaml', { exact: true }).waitFor();
    await take('files');
  });

  test('a mistake in a file, and what the server says to it', async () => {
    await go('#cluster');
    await button('New file').click();
    await editor().locator('.cm-content').click();
    await page.keyboard.insertText(
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: Not_A_Name\n  lables: {}\n',
    );
    await page.locator('.cm-lintRange-error').first().waitFor();
    await button('Check').click();
    await page.locator('.one-outcome').getByText('refused').waitFor();
    await take('mistake', 'Files');
  });

  test('requests', async () => {
    await page.keyboard.press('Control+j');
    const rows = page.locator('table.log tbody');
    await rows.getByText('Not_A_Name').first().click();
    await page
      .getByRole('region', { name: 'Request details' })
      .getByText('patch configmaps')
      .waitFor();
    await take('requests', 'Requests');
    await page.getByLabel('Live view').check();
    await rows.getByText('/api/v1/pods?watch=1').first().click();
    await page.locator('.request-detail .event').first().waitFor();
    await take('requests-watch', 'Requests');
    await page.keyboard.press('Control+j');
  });

  test('the palette', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to or run' }).fill('dep');
    await page.getByRole('option', { name: /^Deployment apps Kind/ }).waitFor();
    await take('palette');
    await page.keyboard.press('Escape');
  });

  test('the clock and the engine, from the header', async () => {
    await takeClock(page, camera, english, control);
    await page.locator('.pill').click();
    await page.getByText('Goroutines').waitFor();
    await take('engine');
    await page.keyboard.press('Escape');
  });

  test('sharing, and files from a link', () => takeSharing(page, camera, english, sharing));

  test('settings', async () => {
    await go('#settings');
    await page.getByText('Goroutines').waitFor();
    await take('settings');
  });

  test('the console', async () => {
    await go('#console');
    await page.locator('.code-badge').getByText('200 OK').waitFor();
    await page.locator('.response-pane .cm-content').waitFor();
    await take('console', async () => {
      await page.locator('.pane-tabs').getByText('Response').click();
    });
    await page.locator('.side').getByText('Watch ConfigMaps', { exact: true }).click();
    await page.locator('.event').first().getByRole('button').click();
    await page.locator('.event-object .cm-content').waitFor();
    await take('console-watch', async () => {
      await page.locator('.pane-tabs').getByText('Response').click();
    });
    await button('Stop').click();
  });

  test('crashed', async () => {
    await inSharedWorker(
      page,
      `crypto.getRandomValues = () => { throw new Error('no entropy left') }`,
    );
    await page.evaluate(() => void window.kubetab.direct?.request('/api/v1/namespaces?limit=1'));
    await page.getByRole('heading', { name: 'The API server crashed.' }).waitFor();
    await take('crashed');
  });
});

test('a phone reaches every view, and no line of the picture runs through a word', async () => {
  const context = await here.browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  await page.goto(here.url);
  await ready(page);
  await populate(page);
  await page.locator('.line-service').first().waitFor();
  const behind = await page.evaluate(() => {
    const lines = document.querySelector('.lines');
    return [...document.querySelectorAll('.lane-head > *')].map((word) => {
      const isAfter = lines?.compareDocumentPosition(word) === Node.DOCUMENT_POSITION_FOLLOWING;
      const { backgroundColor } = getComputedStyle(word);
      return isAfter && backgroundColor !== 'rgba(0, 0, 0, 0)' && !/\/ 0?\./.test(backgroundColor);
    });
  });
  expect(behind.length).toBeGreaterThan(3);
  expect(behind).not.toContain(false);
  const places = {
    Files: page.locator('.editor-pane .cm-content'),
    Terminal: page.locator('.terminal-screen'),
    Requests: page.locator('table.log'),
    Console: page.getByRole('button', { name: 'Response' }),
    Settings: page.getByRole('heading', { name: 'Acting as' }),
    Cluster: page.locator('.stage'),
  };
  for (const [tab, place] of Object.entries(places)) {
    await page.locator('.phone-tabs').getByText(tab, { exact: true }).click();
    await place.waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  }
  await page.locator('.phone-tabs').getByText('Files', { exact: true }).click();
  await page
    .getByRole('combobox', { name: 'Files of the workspace' })
    .selectOption('All files ...');
  await page.getByRole('button', { name: 'Download all' }).waitFor();
  await new Camera(page, { themes: ['light'], sizes: ['phone'] }).take('file-list');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator('.file-list').getByText('boat.yaml', { exact: true }).click();
  await page.getByRole('textbox', { name: 'Text of boat.yaml' }).waitFor();
  await context.close();
});

test('nothing moves while the page starts', async () => {
  const context = await here.browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(() => {
    const shifts: [number, string][] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as LayoutShift[]) {
        const moved = entry.sources.map(({ node }) => (node as Element | null)?.className);
        shifts.push([entry.value, moved.join(', ')]);
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  const page = await context.newPage();
  await page.goto(here.url);
  await ready(page);
  await page.getByText('No Pods in this cluster yet.').waitFor();
  const shifts = await page.evaluate(() => window.shifts);
  expect(
    shifts.reduce((sum, [value]) => sum + value, 0),
    JSON.stringify(shifts),
  ).toBeLessThan(0.01);
  await context.close();
});

test('the terminal takes keys with what the document names, and waits for no other chunk', async () => {
  gate.close();
  const context = await here.browser.newContext();
  const page = await context.newPage();
  const html = await (await fetch(here.url)).text();
  const held: string[] = [];
  await page.route(/\/assets\/[^/]+\.(js|css)$/, async (route) => {
    const url = new URL(route.request().url());
    if (html.includes(url.pathname.slice(1))) return route.continue();
    held.push(url.pathname); // for ever
  });
  await page.goto(here.url);
  await page.locator('.terminal textarea').waitFor({ state: 'attached' });
  expect(held.length).toBeGreaterThan(0);
  await context.close();
  gate.open();
});

test('what is needed for the first paint is under 100 KB', async () => {
  gate.close(); // before there is an engine
  const context = await here.browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  const weights = new Map<string, number>();
  const names = new Map<string, string>();
  session.on('Network.responseReceived', ({ requestId, response }) => {
    names.set(requestId, new URL(response.url).pathname);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    weights.set(names.get(requestId) ?? requestId, encodedDataLength);
  });
  await page.goto(here.url);
  await page.getByRole('navigation', { name: 'Views' }).waitFor();
  const html = await (await fetch(here.url)).text();
  // The document itself, and all that it names but the terminal's chunk, which the first paint does not wait for. The
  // editor is loaded later, by the script.
  const needed = html.replace(/<link [^>]*data-for="terminal"[^>]*>/g, '');
  expect(needed).not.toBe(html);
  const named = [...needed.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, file]) => `/${file}`);
  expect(named.some((file) => file.endsWith('.js'))).toBe(true);
  const first = ['/', ...named].reduce((sum, file) => sum + (weights.get(file) ?? 0), 0);
  expect(first).toBeGreaterThan(20_000);
  expect(first).toBeLessThan(100_000);
  await context.close();
  gate.open();
});

interface LayoutShift extends PerformanceEntry {
  readonly value: number;
  readonly sources: readonly { readonly node: Node | null }[];
}

declare global {
  interface Window {
    readonly shifts: [number, string][];
  }
}
