import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { chinese } from '../../src/page/language/chinese';
import { inSharedWorker, ready } from './browser';
import { Camera, show } from './camera';
import { faultsOfChinese } from './foreign';
import { takeClock, takeSharing } from './sights';
import { Gate } from './site';
import { newBrowser } from './visitors';

// The page as somebody sees it whose browser asks for Chinese: every text of the page's own is Chinese, in every pane.
// Names, and what the API server and kubectl say, are as they are: they are marked translate="no".

/** Closed while the page is looked at that waits for its engine. */
const gate = new Gate();
const here = newBrowser(gate);

async function send(page: Page, method: string, path: string, body: unknown, type: string) {
  await page.evaluate(
    async ([verb, to, text, contentType]) => {
      const answer = await window.kubetab.direct?.request(to, {
        method: verb,
        headers: { 'Content-Type': contentType },
        body: text,
      });
      if (!answer?.ok) throw new Error(`${verb} ${to}: ${await answer?.text()}`);
    },
    [method, path, JSON.stringify(body), type] as const,
  );
}

describe('every state', () => {
  let context: BrowserContext;
  let page: Page;
  let camera: Camera;
  let inBothThemes: Camera;

  beforeAll(async () => {
    context = await here.browser.newContext({
      colorScheme: 'light',
      reducedMotion: 'reduce',
      locale: 'zh-CN',
      viewport: { width: 1440, height: 900 },
    });
    page = await context.newPage();
    page.on('dialog', (dialog) => void dialog.accept());
    const sight = {
      prefix: 'zh-',
      sizes: ['wide', 'phone'],
      look: faultsOfChinese,
    } as const;
    camera = new Camera(page, { ...sight, themes: ['light'] });
    inBothThemes = new Camera(page, { ...sight, themes: ['light', 'dark'] });
    gate.close();
    await page.goto(here.url);
  });
  afterAll(() => context?.close());

  // look.test.ts has the others in the dark theme, whose colours are those of both languages.
  const onlyHere = [
    'pod',
    'logs',
    'conflict',
    'palette',
    'removed',
    'settings-open',
    'console-history',
  ];
  const take = (name: string, phone?: string) =>
    (onlyHere.includes(name) ? inBothThemes : camera).take(name, phone);
  const go = (hash: string) => show(page, hash);
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const editor = () => page.locator('.editor-pane');

  test('starting', async () => {
    await page
      .getByText(/正在(下载|启动) /)
      .first()
      .waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-Hans');
    expect(await page.title()).toBe(chinese.frame.title);
    await take('starting');
    gate.open();
  });

  test('an empty cluster', async () => {
    await ready(page);
    await page.getByText('此集群中还没有 Pod。').waitFor();
    await editor().locator('.cm-content').waitFor();
    await take('empty');
    await page.locator('.pill').click();
    await page.getByText('goroutine 数').waitFor();
    await take('engine');
    await page.locator('.pill').click();
  });

  test('the picture', async () => {
    await button('应用').click();
    await page.locator('.one-outcome').getByText('已创建').waitFor();
    await expect.poll(() => page.locator('.stage .pod-running').count()).toBe(3);
    await take('picture');
  });

  test('a table, an object, and what can be done to it', async () => {
    await go('#cluster/apis/apps/v1/deployments');
    await page.getByRole('link', { name: 'web' }).waitFor();
    await take('table');
    await go('#cluster/apis/apps/v1/namespaces/default/deployments/web');
    await page.getByText('MinimumReplicasAvailable').waitFor();
    await button('扩缩').click();
    await take('object');
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'YAML' }).click();
    await page.getByLabel('字段属主').check();
    await page.locator('.yaml-view .cm-note').first().waitFor();
    await take('owners');
    await go('#cluster/api/v1/pods');
    await page.locator('a.object-name').first().click();
    await page.getByRole('tab', { name: '日志' }).waitFor();
    await take('pod');
    await page.getByRole('tab', { name: '日志' }).click();
    await page.locator('.log-lines').waitFor();
    await take('logs');
  });

  test('files, a mistake, and a conflict', async () => {
    await go('#files');
    await page.locator('.file-list').getByText('boat.yaml', { exact: true }).waitFor();
    await take('files');
    await go('#cluster');
    await send(
      page,
      'PATCH',
      '/apis/apps/v1/namespaces/default/deployments/web?fieldManager=alice&force=true',
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: { replicas: 2 },
      },
      'application/apply-patch+yaml',
    );
    await button('应用').click();
    await button('强制接管').waitFor();
    await page.locator('.stage').getByText('2/2').waitFor(); // nothing comes or goes in the picture
    await take('conflict', '文件');
    await button('新建文件').first().click();
    await editor().locator('.cm-content').click();
    await page.keyboard.insertText(
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: Not_A_Name\n  lables: {}\n',
    );
    await page.locator('.cm-lintRange-error').first().waitFor();
    await page.locator('.cm-lintRange-error').first().hover();
    await page.locator('.cm-tooltip').getByText('你是指“labels”吗').waitFor();
    await button('检查').click();
    await page.locator('.one-outcome').getByText('被拒绝').waitFor();
    await take('mistake', '文件');
  });

  test('requests', async () => {
    await page.keyboard.press('Control+j');
    const rows = page.locator('table.log tbody');
    await rows.getByText('Not_A_Name').first().click();
    await page.getByRole('region', { name: '请求详情' }).getByText('patch configmaps').waitFor();
    await take('requests', '请求');
    await page.getByLabel('实时视图').check();
    await rows.getByText('/api/v1/pods?watch=1').first().click();
    await page.locator('.request-detail .event').first().waitFor();
    await take('requests-watch', '请求');
    await page.keyboard.press('Control+j');
  });

  test('the palette', async () => {
    await page.keyboard.press('Control+k');
    await page.locator('.palette-foot').waitFor({ state: 'hidden' });
    await take('palette');
    await page.getByRole('combobox', { name: '跳转或执行' }).fill('dep');
    await page.getByRole('option', { name: /^Deployment apps 类别/ }).waitFor();
    await take('palette-found');
    await page.keyboard.press('Escape');
  });

  test('the clock, sharing, and files from a link', async () => {
    await takeClock(page, camera, chinese.frame, chinese.control);
    await takeSharing(page, camera, chinese.frame, chinese.share);
    await go('#files');
    await page.locator('.file-row').first().getByRole('button', { name: '移除' }).click();
    await page.locator('.notice').getByRole('button', { name: '撤销' }).waitFor();
    await take('removed');
    await button('撤销').click();
    await page.locator('.notice').waitFor({ state: 'detached' });
    await go('#cluster');
  });

  test('settings', async () => {
    await go('#settings');
    await page.getByText('goroutine 数').waitFor();
    await page.getByText('特性门控', { exact: true }).first().waitFor();
    await take('settings');
    const sections = page.locator('.settings details > summary');
    for (let i = 0; i < (await sections.count()); i++) await sections.nth(i).click();
    await take('settings-open');
  });

  test('the console', async () => {
    await go('#console');
    await page.locator('.code-badge').getByText('200 OK').waitFor();
    await page.locator('.response-pane .cm-content').waitFor();
    await take('console');
    await page.locator('.side').getByText('监视 ConfigMap', { exact: true }).click();
    await page.locator('.event').first().waitFor();
    await take('console-watch');
    await button('停止').click();
    await page.getByRole('tab', { name: '历史' }).click();
    await take('console-history');
  });

  test('crashed', async () => {
    await inSharedWorker(
      page,
      `crypto.getRandomValues = () => { throw new Error('no entropy left') }`,
    );
    await page.evaluate(() => void window.kubetab.direct?.request('/api/v1/namespaces?limit=1'));
    await page.getByRole('heading', { name: 'API 服务器崩溃了。' }).waitFor();
    await take('crashed');
  });
});

describe('the language', () => {
  afterEach(() => gate.open());

  const visit = async (address: string, locale: string, options: BrowserContextOptions = {}) => {
    const viewport = { width: 1440, height: 900 };
    const context = await here.browser.newContext({ locale, viewport, ...options });
    const page = await context.newPage();
    const chunks: string[] = [];
    page.on('request', (request) => {
      if (/\/chinese-[^/]*\.js$/.test(request.url())) chunks.push(request.url());
    });
    await page.goto(address);
    await page.getByRole('navigation', { name: /Views|视图/ }).waitFor();
    return { context, page, chunks };
  };
  const lang = (page: Page) => page.evaluate(() => document.documentElement.lang);

  test('is the first of the browser that the page has; an address may name another', async () => {
    gate.close(); // nothing here needs an engine
    const english = await visit(here.url, 'en-GB');
    expect(await lang(english.page)).toBe('en');
    expect(english.chunks).toEqual([]);
    await english.context.close();
    const linked = await visit(`${here.url}?lang=zh`, 'en-GB');
    expect(await lang(linked.page)).toBe('zh-Hans');
    await linked.context.close();
    const other = await visit(`${here.url}?lang=xx#settings`, 'zh-CN');
    expect(await lang(other.page)).toBe('zh-Hans');
    await other.context.close();
  });

  test('is changed with everything left as it is, and kept', async () => {
    const { context, page } = await visit(`${here.url}?lang=en`, 'en-GB');
    await ready(page);
    const engine = () =>
      page.evaluate(() => {
        const { state } = window.kubetab;
        return state?.phase === 'ready' ? state.startMs : null;
      });
    const started = await engine();
    const text = page.locator('.editor-pane .cm-content');
    await text.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('# mine');
    const screen = page.locator('.terminal .xterm-rows');
    await page.locator('.terminal-screen').click();
    await page.keyboard.press('Control+u');
    await page.keyboard.type('echo still here\n');
    await expect.poll(() => screen.textContent()).toMatch(/still here.*still here.*\$\s*$/); // with the next prompt
    const before = await screen.textContent();

    await page.getByRole('combobox', { name: 'Language' }).selectOption('简体中文');
    await page.getByRole('button', { name: '应用', exact: true }).waitFor();
    expect(await lang(page)).toBe('zh-Hans');
    expect(await page.title()).toBe(chinese.frame.title);
    expect(new URL(page.url()).search).toBe('?lang=zh');
    expect(await screen.textContent()).toBe(before);
    expect(await engine()).toBe(started);
    await page.getByRole('textbox', { name: 'deployment.yaml 的文本' }).click();
    expect(await text.textContent()).toContain('# mine');
    await page.keyboard.press('Control+z');
    expect(await text.textContent()).not.toContain('# mine');
    await page.keyboard.press('Control+f');
    await page.getByPlaceholder('查找').waitFor();

    await page.goto(`${here.url}#settings`);
    await page.getByRole('heading', { name: '外观' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: '跳转或执行' }).waitFor();
    await page.keyboard.type('english');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Look' }).waitFor();
    expect(await lang(page)).toBe('en');
    await context.close();
  });

  test('stays as it is when the other cannot be loaded, and says so', async () => {
    gate.close(); // nothing here needs an engine
    // What a service worker asks for passes the routes of the page by.
    const { context, page } = await visit(`${here.url}#settings`, 'en-GB', {
      serviceWorkers: 'block',
    });
    await page.route(/\/chinese-[^/]*\.js$/, (route) => route.abort());
    const menu = page.getByRole('combobox', { name: 'Language' }).first();
    await menu.selectOption('简体中文');
    await page.getByText('The Chinese texts could not be loaded. Try again later.').waitFor();
    expect(await menu.inputValue()).toBe('en');
    expect(await lang(page)).toBe('en');
    await context.close();
  });
});
