import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Lesson } from '../../src/answers/lessons';
import { english } from '../../src/page/lessons/words';
import { controlled, ready } from './browser';
import { newBrowser } from './visitors';

// Scripts of the learner's run in workers, ask the API as the page's identity, print beside the editor, and can be stopped.

const visitor = newBrowser();
let context: BrowserContext;
let page: Page;
beforeAll(async () => {
  context = await visitor.browser.newContext({ viewport: { width: 1440, height: 900 } });
});
/** One page for all tests: each has files and objects of its own, and is who visitors are at first. */
beforeEach(async () => {
  page = context.pages()[0] ?? (await context.newPage());
  await page.goto(`${visitor.url}#files`);
  await ready(page);
  await page.getByLabel('Acting as').selectOption('kubetab-admin');
});

/** Makes a file with a command, or writes it anew, and opens it. */
async function write(name: string, text: string): Promise<void> {
  await page.evaluate(
    async ([path, body]) => {
      const way = `/kubetab/files/home/kubetab/${path}`;
      await window.kubetab.direct?.request(way, { method: 'PUT', body });
    },
    [name, text] as const,
  );
  await page.locator('.file-row', { hasText: name }).locator('.entry').click();
  await page.getByRole('textbox', { name: `Text of ${name}` }).waitFor();
  const shown = page.locator('.editor-pane .cm-content');
  const first = text.trim().split('\n')[0] ?? '';
  await expect.poll(() => shown.textContent()).toContain(first);
}
const button = (name: string) =>
  page.locator('.editor-pane').getByRole('button', { name, exact: true });
const run = () => button('Run').click();
const printed = () => page.locator('.script-output').getByRole('log').textContent();
const prints = (what: string) => expect.poll(printed).toContain(what);
const phase = () => page.locator('.script-phase').textContent();
const reaches = (what: string) => expect.poll(phase).toBe(what);

/** Requests of scripts, as the engine's log has them. */
const asked = () =>
  page.evaluate(async () => {
    const log = await window.kubetab.direct?.request('/kubetab/requests');
    const lines = (await log?.text())?.trim().split('\n') ?? [];
    return lines
      .map(
        (line) => JSON.parse(line) as { from: string; path: string; user: string; done?: boolean },
      )
      .filter(({ from }) => from === 'script');
  });

test('a script asks, watches, prints, and ends with its requests when it is stopped', async () => {
  await write(
    'mirror.js',
    `const path = '/api/v1/namespaces/default/configmaps';
const list = await (await fetch(path)).json();
console.log('list', list.kind, { items: list.items.length > 0 });
console.warn('careful');
const watch = await fetch(path + '?watch=1&resourceVersion=' + list.metadata.resourceVersion);
console.log('watching', watch.status);
let rest = '';
for await (const piece of watch.body.pipeThrough(new TextDecoderStream())) {
  rest += piece;
  const lines = rest.split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    const { type, object } = JSON.parse(line);
    console.log(type, object.metadata.name);
  }
}
`,
  );
  const earlier = (await asked()).length;
  await run();
  await prints('list ConfigMapList { items: true }');
  await prints('watching 200');
  await reaches('runs');
  await page.evaluate(() =>
    window.kubetab.direct?.request('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'seen-by-script' } }),
    }),
  );
  await prints('ADDED seen-by-script');
  expect(await page.locator('.script-line.is-warn').textContent()).toBe('careful');
  const records = (await asked()).slice(earlier);
  expect(records.map(({ user }) => user)).toEqual(records.map(() => 'kubetab-admin'));
  expect(records.filter(({ done }) => !done)).toHaveLength(1);

  await button('Stop').click();
  await reaches('was stopped');
  await expect.poll(async () => (await asked()).filter(({ done }) => !done)).toEqual([]);

  // Again, as who the page acts as by then; an error that is not caught is the end.
  await write(
    'viewer.mjs',
    `const path = 'api/v1/namespaces/default/configmaps';
const answer = await fetch(path, { method: 'POST', body: '{}' });
console.log('answer', answer.status, (await answer.json()).reason);
setTimeout(() => console.log('later'), 20);
await fetch(new URL('https://kubernetes.io/')).catch(({ name }) => console.log('elsewhere', name));

null.here;
`,
  );
  await page.getByLabel('Acting as').selectOption('kubetab-view');
  await run();
  await prints('answer 403 Forbidden');
  await prints('elsewhere TypeError');
  await reaches('ended with an error');
  await prints("Cannot read properties of null (reading 'here')");
  const [last] = (await asked()).slice(-1);
  expect(last?.user).toBe('kubetab-view');
  await page.getByRole('button', { name: 'Line 7 in viewer.mjs' }).click();
  await expect.poll(() => page.locator('.cm-activeLine').textContent()).toBe('null.here;');
});

test('a script that has nothing more to do has ended, and one that is no JavaScript says where', async () => {
  await write(
    'short.js',
    `setTimeout(async () => {
  const answer = await fetch('/version');
  console.log('version', (await answer.json()).major);
}, 50);
`,
  );
  await run();
  await prints('version 1');
  await reaches('has ended');

  await write('broken.js', 'console.log("never");\n\nlet x = ;\n');
  await run();
  await prints('SyntaxError');
  await reaches('ended with an error');
  expect(await printed()).not.toContain('never');
  expect(await page.getByRole('button', { name: 'Line 3 in broken.js' }).count()).toBe(1);

  await write(
    'rejected.js',
    'async function main() {\n  throw new Error("on purpose");\n}\nmain();\n',
  );
  await run();
  await prints('Error: on purpose');
  await prints('Line 2 in rejected.js');
  await reaches('ended with an error');
});

test('a loop that never pauses leaves the page alone, and can be stopped', async () => {
  await write(
    'busy.js',
    "console.log('begins');\nfor (let n = 0; ; n++) console.log('turn', n);\n",
  );
  await run();
  await prints('turn');
  // The page goes on: it prints more, and another view opens.
  await prints('lines are not shown');
  await page.goto(`${visitor.url}#settings`);
  await page.getByRole('heading', { name: 'Settings' }).first().waitFor();
  await page.goto(`${visitor.url}#files`);
  await reaches('runs');
  await button('Stop').click();
  await reaches('was stopped');

  await write('silent.js', "console.log('begins');\nfor (;;);\n");
  await run();
  await prints('begins');
  await button('Run again').click();
  await prints('begins');
  await reaches('runs');
  await button('Stop').click();
  await reaches('was stopped');
});

test('node in the terminal runs the same file in the page, and Ctrl C ends it', async () => {
  await write(
    'tick.js',
    `const answer = await fetch('/api/v1/namespaces/kube-system');
console.log('found', (await answer.json()).metadata.name);
if (answer.ok) setInterval(() => console.log('tick'), 50);
`,
  );
  const shows = (what: RegExp) =>
    expect
      .poll(async () => {
        // biome-ignore lint/performance/useDomNodeTextContent: the text of the DOM does not tell where a row ends
        const text = await page.locator('.terminal .xterm-rows').innerText();
        return text.replaceAll('\u00a0', ' ').replaceAll(/ +$/gm, '');
      })
      .toMatch(what);
  const type = async (line: string) => {
    await page.locator('.terminal textarea').focus();
    await page.keyboard.type(`code=$?; clear; ${line}\n`);
  };
  await type('node tick.js');
  await shows(/found kube-system\ntick\ntick\n/);
  await page.keyboard.press('Control+c');
  await shows(/\^C/);
  await type('echo code $code');
  await shows(/code 130\n/);
  await expect.poll(async () => (await asked()).filter(({ done }) => !done)).toEqual([]);
  await write('once.js', "console.log('out');\nconsole.error('err');\nthrow new Error('over');\n");
  await type('node once.js 2> errors; echo code $?; head -2 errors');
  await shows(/out\ncode 1\nerr\nError: over\n/);
});

test('without a service worker, and in the fallback, a script reaches the cluster of its page', async () => {
  await controlled(page);
  const other = await visitor.browser.newContext({ serviceWorkers: 'block' });
  page = await other.newPage();
  // No SharedWorker either: the engine is a worker of the tab.
  await page.addInitScript(() => Reflect.deleteProperty(window, 'SharedWorker'));
  await page.goto(`${visitor.url}#files`);
  await ready(page);
  await write('plain.js', "console.log('status', (await fetch('/api/v1/nodes')).status);\n");
  await run();
  await prints('status 200');
  await reaches('has ended');
  await other.close();
});

test('a lesson about controllers is done with scripts in the page', async () => {
  const file = resolve(import.meta.dirname, '../../dist/lessons/controller/mirror.en.json');
  const { steps } = JSON.parse(readFileSync(file, 'utf8')) as Lesson;
  // From the start in the lesson's cluster: nothing is typed into a page that is about to go there.
  await page.close();
  page = await context.newPage();
  for (const [at, { solution, checks }] of steps.slice(0, 3).entries()) {
    await page.goto(`${visitor.url}#/lesson/controller/mirror/${at + 1}`);
    if (at === 0) await ready(page);
    await page.locator('.checks').waitFor();
    await page.locator('.checks-wait').waitFor({ state: 'detached' });
    for (const line of solution) {
      await page.locator('.terminal textarea').focus();
      await page.keyboard.type(`${line}\n`);
    }
    for (const { title } of checks) {
      const done = page.locator('.check.is-done', { hasText: title });
      await done.waitFor();
    }
    if (at > 0) continue;
    // What a script asks is told beside the line that runs it.
    const block = page.locator('.code-block', { hasText: 'node list.js' });
    await block.getByRole('button', { name: english.block.run, exact: true }).click();
    await block.locator('.exchange', { hasText: '/boats' }).first().waitFor();
  }
});
