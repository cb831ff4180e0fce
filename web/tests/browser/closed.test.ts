import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { launch, ready } from './browser';
import { chosen, FLAGS_OF_TESTS } from './chromium';
import { plain, type Site } from './site';

// Where a browser gives the page less than usual, there is a page that works, or a sentence.

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function openSite(policy = ''): Promise<Site> {
  const site = await plain({ policy });
  ends.push(() => site.close());
  return site;
}

async function openBrowser(flags: readonly string[] = []): Promise<BrowserContext> {
  const browser = await launch(flags);
  ends.push(() => browser.close());
  return browser.newContext();
}

/** Reads and writes, as every part of the page does. */
async function works(page: Page): Promise<void> {
  await ready(page);
  const statuses = await page.evaluate(async () => {
    const { direct } = window.kubetab;
    const made = await direct?.request('/api/v1/namespaces', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'made' } }),
    });
    const found = await direct?.request('/api/v1/namespaces/made');
    return [made?.status, found?.status];
  });
  expect(statuses).toEqual([201, 200]);
}

test('where storage is closed to the site', async () => {
  const site = await openSite();
  const profile = mkdtempSync(join(tmpdir(), 'kubetab-closed-'));
  ends.push(() => rmSync(profile, { recursive: true, force: true, maxRetries: 10 }));
  mkdirSync(join(profile, 'Default'));
  writeFileSync(
    join(profile, 'Default/Preferences'),
    JSON.stringify({ profile: { default_content_setting_values: { cookies: 2 } } }),
  );
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chosen(),
    args: [...FLAGS_OF_TESTS],
  });
  ends.push(() => context.close());
  const page = await context.newPage();
  await page.goto(`${site.url}#settings`);
  const isClosed = await page.evaluate(() => {
    try {
      return !localStorage;
    } catch {
      return true;
    }
  });
  expect(isClosed).toBe(true);
  await works(page);
});

test('over plain HTTP from another machine', async () => {
  const site = await openSite();
  const context = await openBrowser(['--host-resolver-rules=MAP lan.test 127.0.0.1']);
  const page = await context.newPage();
  await page.goto(`${site.url.replace('127.0.0.1', 'lan.test')}#settings`);
  expect(await page.evaluate(() => isSecureContext)).toBe(false);
  await works(page);
});

test.each([
  ['throws', 'throw new DOMException("no", "SecurityError")'],
  [
    'fails later',
    'const port = new MessageChannel().port1; setTimeout(() => this.onerror?.(new Event("error"))); this.port = port;',
  ],
])('where a SharedWorker %s', async (_, body) => {
  const site = await openSite();
  const context = await openBrowser();
  await context.addInitScript(`window.SharedWorker = function () { ${body} }`);
  const page = await context.newPage();
  await page.goto(`${site.url}#settings`);
  await works(page);
  expect(page.workers()).toHaveLength(1);
});

test('where there is no worker at all', async () => {
  const site = await openSite();
  const context = await openBrowser();
  await context.addInitScript(() => {
    const refuse = function refuse() {
      throw new DOMException('workers are turned off', 'SecurityError');
    };
    Object.assign(window, { SharedWorker: refuse, Worker: refuse });
  });
  const page = await context.newPage();
  await page.goto(site.url);
  await page.getByRole('alert').getByText('workers are turned off').waitFor();
});

test('in a frame that has no origin', async () => {
  const site = await openSite('; sandbox allow-scripts allow-popups');
  const context = await openBrowser();
  const page = await context.newPage();
  await page.goto(site.url);
  await page.getByText(/^Kubetab cannot run in this frame/).waitFor();
  const link = page.getByRole('link', { name: 'Open it in a tab of its own' });
  expect(await link.getAttribute('href')).toBe(site.url);
});

const FAILED = 'The code of this page was not loaded, or did not start.';
const FAILED_ZH = '此页面的代码未能加载或启动。';

/** The address of what an element of a document names, in the site's own text. */
async function named(site: Site, document: string, pattern: RegExp): Promise<string> {
  const text = await (await fetch(site.url + document)).text();
  const [, name] = pattern.exec(text) ?? [];
  if (name === undefined) throw new Error(`${document} has nothing like ${pattern}.`);
  return new URL(name, site.url).href;
}

const MODULE = /<script type="module"[^>]*src="([^"]+)"/;
const IMPORTED = /<link rel="modulepreload" crossorigin href="([^"]+)"/;
const OF_TERMINAL = /<link [^>]*data-for="terminal"[^>]*href="([^"]+)"/;

test.each([
  ['index.html', 'the page’s script', 404, MODULE],
  ['index.html', 'the page’s script', 0, MODULE],
  ['index.html', 'what that imports', 404, IMPORTED],
  ['embed.html', 'the page’s script', 404, MODULE],
] as const)(
  '%s says so when %s is not there (%d), and can be loaded again',
  async (document, _, status, what) => {
    const site = await openSite();
    const context = await openBrowser();
    const page = await context.newPage();
    const address = await named(site, document, what);
    await page.route(address, (route) => (status ? route.fulfill({ status }) : route.abort()));
    await page.goto(`${site.url}${document}?panes=terminal#settings`);
    await page.getByRole('alert').getByText(FAILED).waitFor();
    await page.getByText(FAILED_ZH).waitFor();
    expect(await page.locator('.why').textContent()).toContain(
      new URL(await named(site, document, MODULE)).pathname,
    );
    await page.unroute(address);
    await page.getByRole('link', { name: 'Reload the page' }).click();
    await page.getByText(FAILED).waitFor({ state: 'detached' });
    await page.locator('.pill').waitFor();
    expect(page.url()).toBe(`${site.url}${document}?panes=terminal#settings`);
  },
);

test('what is loaded ahead and is not there is missing alone', async () => {
  const site = await openSite();
  const context = await openBrowser();
  const page = await context.newPage();
  await page.route(await named(site, '', OF_TERMINAL), (route) => route.fulfill({ status: 404 }));
  await page.goto(`${site.url}#settings`);
  await ready(page);
  expect(await page.getByText(FAILED).count()).toBe(0);
});

test.each([
  ['at once', 'window', 'setInterval'],
  ['later', 'navigator', 'languages'],
])('a start that throws %s says so', async (_, of, name) => {
  const site = await openSite();
  const context = await openBrowser();
  await context.addInitScript(
    ([of, name]) => {
      Object.defineProperty(Reflect.get(window, of), name, {
        get: () => {
          throw new Error('a defect for the test');
        },
      });
    },
    [of, name] as const,
  );
  for (const document of ['', 'embed.html']) {
    const page = await context.newPage();
    await page.goto(site.url + document);
    await page.getByRole('alert').getByText(FAILED).waitFor();
    expect(await page.locator('.why').textContent()).toContain('a defect for the test');
    await page.close();
  }
});

test('a notice that throws while it is drawn leaves the rest of the page', async () => {
  const site = await openSite();
  const context = await openBrowser();
  const page = await context.newPage();
  await page.goto(`${site.url}#settings`);
  await ready(page);
  const drop = (why: string) =>
    page.evaluate((text) => {
      // Why a file cannot be read is told in a notice.
      const error = {
        toString: () => {
          if (text) return text;
          throw new Error('a defect for the test');
        },
      };
      File.prototype.arrayBuffer = () => Promise.reject(error);
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['x'], 'x.kubetab'));
      document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer }));
    }, why);
  // What listens for files is loaded when the engine is ready.
  await expect
    .poll(async () => {
      await drop('');
      return page.getByText('a defect for the test').count();
    })
    .toBe(1);
  await page.getByRole('navigation').first().waitFor();
  await page.locator('.pill').waitFor();
  // The next one is drawn in its place.
  await drop('another reason');
  await page.locator('.notice').getByText('another reason').waitFor();
  expect(await page.getByText('a defect for the test').count()).toBe(0);
});

test('a part of the page that throws while it is drawn leaves the others', async () => {
  const site = await openSite();
  const context = await openBrowser();
  const page = await context.newPage();
  await page.goto(`${site.url}#settings`);
  await page.locator('h1, h2').first().waitFor();
  // Numbers in the header and the requests' strip are made with this.
  await page.evaluate(() => {
    Reflect.set(Intl.NumberFormat.prototype, 'format', undefined);
    Object.defineProperty(Intl.NumberFormat.prototype, 'format', {
      get: () => {
        throw new Error('a defect for the test');
      },
    });
  });
  await page.getByText('a defect for the test').first().waitFor();
  await page.getByRole('navigation').first().waitFor();
});
