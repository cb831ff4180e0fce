import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { english as lessons } from '../../src/page/lessons/words';
import { chinese } from '../../src/page/words.zh';
import { arrives, controlled, launch, ready, restarts, stopServiceWorkers } from './browser';
import { Camera } from './camera';
import { openSite, type Site } from './site';

// One's own cluster and others beside it, each with objects, settings and files of its own.

let browser: Browser;
let site: Site;
let context: BrowserContext;
/** In the first cluster, all the time. */
let own: Page;
/** In that of a lesson. */
let lesson: Page;

beforeAll(async () => {
  [browser, site] = await Promise.all([launch(), openSite()]);
  context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  own = await visit('#cluster');
  lesson = await visit('#cluster', context, 'lesson-test-clusters');
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** Opens a tab. It may have been in another cluster before: that of a lesson, which brings nothing into it. */
async function visit(place: string, among = context, before = ''): Promise<Page> {
  const page = await among.newPage();
  await page.addInitScript((cluster) => {
    if (cluster && !sessionStorage.getItem('kubetab.in /')) {
      sessionStorage.setItem('kubetab.in /', cluster);
    }
  }, before);
  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto(site.url + place);
  await ready(page);
  await controlled(page);
  return page;
}

const clusterOf = (page: Page) => page.evaluate(() => document.documentElement.dataset.cluster);
const make = (page: Page, name: string) =>
  page.evaluate(async (object) => {
    const answer = await fetch('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ metadata: { name: object }, data: { in: object } }),
    });
    return answer.status;
  }, name);
/** What has been made in a page's cluster, by plain fetch: through the service worker. */
const made = (page: Page) =>
  page.evaluate(async () => {
    const answer = await fetch('/api/v1/namespaces/default/configmaps');
    const { items } = (await answer.json()) as { items: { metadata: { name: string } }[] };
    return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
  });
/** Everything in a cluster that nobody changes by himself, as the API gives it. */
const objects = (page: Page) =>
  page.evaluate(async () => {
    const kinds = [
      '/api/v1/namespaces',
      '/api/v1/configmaps',
      '/api/v1/secrets',
      '/api/v1/serviceaccounts',
      '/apis/rbac.authorization.k8s.io/v1/clusterroles',
      '/apis/scheduling.k8s.io/v1/priorityclasses',
    ];
    const lists = await Promise.all(kinds.map(async (kind) => (await fetch(kind)).json()));
    return lists.map(({ items }) => items as { metadata: { uid: string } }[]);
  });

async function run(page: Page, line: string, sees: RegExp): Promise<void> {
  await page.locator('.terminal textarea').focus();
  await page.keyboard.type(`clear; ${line}\n`);
  await expect.poll(() => page.locator('.terminal .xterm-rows').textContent()).toMatch(sees);
}

/** Whether the file is in the workspace, which is given to the terminal some time after its engine has begun. */
async function hasNote(page: Page): Promise<void> {
  await page.evaluate(() => {
    location.hash = '#files';
  });
  await page.locator('.file-list').getByText('note.txt').waitFor();
  await page.evaluate(() => {
    location.hash = '#cluster';
  });
}

const openTab = (page: Page, file: string) => page.locator('.file-tab-row').getByText(file);

const menu = (page: Page) => page.getByRole('region', { name: 'Clusters', exact: true });
async function openMenu(page: Page): Promise<void> {
  await page.locator('.cluster-button').click();
  await menu(page).locator('.cluster-row').first().waitFor();
}
const row = (page: Page, title: string) =>
  menu(page).locator('li', { has: page.getByText(title, { exact: true }) });
/** Does something with a cluster of the menu. */
async function act(page: Page, title: string, what: string): Promise<void> {
  await openMenu(page);
  await row(page, title)
    .getByRole('button', { name: `Change ${title}` })
    .click();
  await row(page, title).getByRole('button', { name: what, exact: true }).click();
}

test('two tabs are in two clusters, each with its own objects, by fetch and in the terminal', async () => {
  expect([await clusterOf(own), await clusterOf(lesson)]).toEqual(['own', 'lesson-test-clusters']);
  expect([await make(own, 'of-own'), await make(lesson, 'of-lesson')]).toEqual([201, 201]);
  expect(await made(own)).toEqual(['of-own']);
  expect(await made(lesson)).toEqual(['of-lesson']);
  await run(own, 'kubectl get configmaps -o name', /configmap\/of-own/);
  await run(lesson, 'kubectl get configmaps -o name', /configmap\/of-lesson/);
  for (const [page, foreign] of [
    [own, 'of-lesson'],
    [lesson, 'of-own'],
  ] as const) {
    const shown = await page.locator('.terminal .xterm-rows').textContent();
    expect(shown).not.toContain(foreign);
  }
});

test('files of the terminal and the editor belong to the cluster', async () => {
  await run(own, 'echo mine > note.txt; ls', /note\.txt/);
  await own.evaluate(() => {
    location.hash = '#files';
  });
  await own.locator('.file-list').getByText('note.txt').click();
  await openTab(own, 'note.txt').waitFor();
  await run(lesson, 'ls; echo nothing else', /^\S*.*nothing else/);
  expect(await lesson.locator('.terminal .xterm-rows').textContent()).not.toContain('note.txt');
  await own.evaluate(() => {
    location.hash = '#cluster';
  });
});

test('a reload comes back to the cluster of the tab, also without an address that names it', async () => {
  await lesson.reload();
  await arrives(lesson, 'lesson-test-clusters');
  expect(await made(lesson)).toEqual(['of-lesson']);
  const fresh = await visit('#cluster');
  expect(await clusterOf(fresh)).toBe('own');
  expect(await made(fresh)).toEqual(['of-own']);
  await fresh.close();
});

test('the service worker is stopped, and every page still reaches its own cluster', async () => {
  for (const order of [
    [own, lesson],
    [lesson, own],
  ]) {
    await stopServiceWorkers(own);
    const answers = await Promise.all(order.map(made));
    const expected = order.map((page) => [page === own ? 'of-own' : 'of-lesson']);
    expect(answers).toEqual(expected);
  }
});

test('a request that belongs to no page goes to the cluster that it names', async () => {
  const named = (cluster: string) =>
    own.evaluate(async (name) => {
      const headers = { 'Kubetab-Cluster': name };
      const answer = await fetch('/api/v1/namespaces/default/configmaps/of-lesson', { headers });
      return [answer.status, (await answer.json()).message ?? ''];
    }, cluster);
  expect(await named('lesson-test-clusters')).toEqual([200, '']);
  expect((await named('own'))[0]).toBe(404);
  expect(await named('nobody-is-there')).toEqual([
    503,
    expect.stringContaining('no page of this site that is open is in that cluster'),
  ]);
  expect(await named('../own')).toEqual([503, expect.stringContaining('does not hold the name')]);
});

test('a copy has the same objects and files, and goes its own way', async () => {
  await act(own, 'Your cluster', 'Duplicate');
  await own.keyboard.type('Second');
  await own.keyboard.press('Enter');
  await row(own, 'Second').waitFor();
  const before = await objects(own);
  await row(own, 'Second').locator('button.cluster-face').click();
  await arrives(own, 'second');
  expect(await own.locator('.cluster-name').textContent()).toBe('Second');
  expect(await objects(own)).toEqual(before);
  await hasNote(own);
  expect(await make(own, 'of-second')).toBe(201);
  await openMenu(own);
  await row(own, 'Your cluster').locator('button.cluster-face').click();
  await arrives(own, 'own');
  expect(await objects(own)).toEqual(before);
  // What was open there is open again.
  await openTab(own, 'note.txt').waitFor();
});

test('the cluster of a lesson that is gone says so, and leads to one’s own', async () => {
  const tab = await visit('#cluster', context, 'lesson-test-clusters');
  await tab.getByText(lessons.strip.orphan).waitFor();
  await tab.getByRole('button', { name: lessons.strip.own }).click();
  await arrives(tab, 'own');
  expect(await made(tab)).toEqual(['of-own']);
  expect(await tab.locator('.lesson-strip').count()).toBe(0);
  await tab.close();
});

test('one is reset, and the others stay', async () => {
  await restarts(lesson, () => act(lesson, 'lesson-test-clusters', 'Reset'));
  expect(await made(lesson)).toEqual([]);
  expect(await made(own)).toEqual(['of-own']);
  expect(await make(lesson, 'anew')).toBe(201);
  // That of another tab is left to it.
  await act(own, 'lesson-test-clusters', 'Reset');
  await menu(own).getByRole('alert').getByText('Another tab is in it.').waitFor();
  await own.keyboard.press('Escape');
  expect(await made(lesson)).toEqual(['anew']);
});

test('what no tab is in is reset and deleted from the list, though its engine may still run', async () => {
  await act(own, 'Second', 'Reset');
  await row(own, 'Second').getByText('not begun').waitFor();
  await own.keyboard.press('Escape');
  const again = await visit('?cluster=second#cluster');
  expect(await clusterOf(again)).toBe('second');
  expect(await made(again)).toEqual([]);
  await hasNote(again);
  // In the tab that is in it.
  await act(again, 'Second', 'Delete');
  await arrives(again, 'own');
  expect(await made(again)).toEqual(['of-own']);
  await openMenu(again);
  await row(again, 'Your cluster').waitFor();
  expect(await row(again, 'Second').count()).toBe(0);
  const databases = await again.evaluate(async () =>
    (await indexedDB.databases()).map(({ name }) => name),
  );
  expect(databases.filter((name) => name?.includes('second'))).toEqual([]);
  await again.close();
});

test('the command palette goes to clusters', async () => {
  await own.keyboard.press('Control+k');
  await own.locator('dialog.palette input').fill('lesson-test');
  await own.getByRole('option', { name: /Go to the cluster lesson-test-clusters/ }).waitFor();
  await own.keyboard.press('Enter');
  await arrives(own, 'lesson-test-clusters');
  expect(await made(own)).toEqual(['anew']);
  await own.goto(`${site.url}?cluster=own#cluster`);
  await arrives(own, 'own');
});

/** Makes objects in a browser without room until the page says so. Returns what gives it room again. */
async function fills(page: Page, told: string): Promise<() => Promise<unknown>> {
  const session = await page.context().newCDPSession(page);
  const { origin } = new URL(site.url);
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1000 });
  await expect
    .poll(async () => {
      expect(await make(page, `full-${Date.now()}`)).toBe(201);
      return (await page.locator('.notice').allTextContents()).join();
    })
    .toContain(told);
  return () => session.send('Storage.overrideQuotaForOrigin', { origin });
}

test('a full storage is told, nothing is lost, and it is kept once there is room', async () => {
  const elsewhere = await browser.newContext();
  const page = await visit('#settings', elsewhere);
  const other = await visit('#cluster', elsewhere, 'lesson-full-room');
  expect(await make(page, 'before')).toBe(201);
  await other.close();
  const giveRoom = await fills(page, 'The browser has no room left.');
  const all = await made(page);
  await giveRoom();
  await page.getByRole('button', { name: 'Show clusters' }).click();
  await act(page, 'lesson-full-room', 'Delete');
  await page.locator('.notice').getByText('There is room again.').waitFor();
  // The engine ends, and another goes on from what is kept.
  await restarts(page, () => page.evaluate(() => window.kubetab.restart({}, 'kept')));
  expect(await made(page)).toEqual(all);
  await elsewhere.close();
});

test('where the storage is full and there is nothing to delete, the cluster can be saved as a file', async () => {
  const elsewhere = await browser.newContext();
  const page = await visit('#settings', elsewhere);
  await fills(page, 'Or save the cluster as a file.');
  expect(await page.getByRole('button', { name: 'Show clusters' }).count()).toBe(0);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('.notice').getByRole('button', { name: 'Save as a file' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('cluster.kubetab');
  await elsewhere.close();
});

test('a cluster that cannot be read says so, is left as it is, and can be begun anew', async () => {
  await own.evaluate(
    () =>
      new Promise<void>((torn) => {
        localStorage.setItem('kubetab.title /{torn}', 'Torn');
        indexedDB.open('kubetab').onsuccess = ({ target }) => {
          const { result } = target as IDBOpenDBRequest;
          const change = result.transaction('journal', 'readwrite');
          const store = change.objectStore('journal');
          store.getAllKeys().onsuccess = (event) => {
            const keys = (event.target as IDBRequest<[string, string][]>).result;
            const base = keys.find(([each]) => /^\/kubetab\./.test(each))?.[0] ?? '';
            store.put('no record', [`/{torn}${base}`, 'e1']);
          };
          change.oncomplete = () => {
            result.close();
            torn();
          };
        };
      }),
  );
  const page = await visit('?cluster=torn#settings');
  const notice = page.locator('.notice');
  await notice.getByText('The record e1 cannot be read.').waitFor();
  expect(await make(page, 'not-kept')).toBe(201);
  expect(await made(own)).toEqual(['of-own']);
  await restarts(page, () => act(page, 'Torn', 'Reset'));
  expect(await make(page, 'kept')).toBe(201);
  await restarts(page, () => page.evaluate(() => window.kubetab.restart(undefined, 'kept')));
  expect(await made(page)).toEqual(['kept']);
  await page.close();
});

test('without SharedWorker each cluster has an engine in a tab of its own', async () => {
  const old = await browser.newContext();
  await old.addInitScript(() => {
    Reflect.deleteProperty(window, 'SharedWorker');
  });
  const [a, b] = [
    await visit('#settings', old),
    await visit('#cluster', old, 'lesson-old-browser'),
  ];
  expect([a.workers().length, b.workers().length]).toEqual([1, 1]);
  expect([await make(a, 'of-a'), await make(b, 'of-b')]).toEqual([201, 201]);
  expect([await made(a), await made(b)]).toEqual([['of-a'], ['of-b']]);
  await old.close();
});

test('the list, and the same in Chinese', async () => {
  const page = await visit('#settings');
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const camera = new Camera(page, { themes: ['light', 'dark'], sizes: ['wide', 'phone'] });
  await page.locator('.settings .cluster-row').first().waitFor();
  await camera.take('clusters-settings');
  await openMenu(page);
  await row(page, 'lesson-test-clusters').getByRole('button').last().click();
  await camera.take('clusters-menu');
  await page.goto(`${site.url}?lang=zh#settings`);
  await ready(page);
  await page.getByRole('button', { name: chinese.cluster.label(chinese.cluster.own) }).click();
  await page.getByRole('region', { name: chinese.cluster.all, exact: true }).waitFor();
  await new Camera(page, { themes: ['light'], sizes: ['wide', 'phone'] }).take('clusters-menu-zh');
  await page.evaluate(() => localStorage.removeItem('kubetab.language'));
  await page.close();
});
