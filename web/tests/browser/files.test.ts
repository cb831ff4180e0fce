import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { ready, restarts } from './browser';
import { newVisitors } from './visitors';

// The files of the editor and those of the terminal are the same, and outlive the engine.

const visitor = newVisitors();
let page: Page;
beforeEach(async () => {
  page = await visitor.context.newPage();
  await page.goto(`${visitor.url}#files`);
  await ready(page);
});

/** What a command line prints, in a shell of the engine's. */
const run = (line: string) =>
  page.evaluate(async (command) => {
    const answer = await window.kubetab.direct?.request('/kubetab/run', {
      method: 'POST',
      body: JSON.stringify({ command }),
    });
    if (!answer) throw new Error('There is no way to the engine.');
    const { stdout, stderr } = (await answer.json()) as { stdout: string; stderr: string };
    return stdout + stderr;
  }, line);
const says = (line: string) => expect.poll(() => run(line));
/** Until the copy has it: an engine that ends a moment later takes nothing along. */
const isKept = (path: string, store: 'files' | 'others') =>
  expect.poll(() =>
    page.evaluate(
      ([name, key]) =>
        new Promise<boolean>((found) => {
          indexedDB.open('kubetab-workspace').onsuccess = ({ target }) => {
            const { result } = target as IDBOpenDBRequest;
            const count = result.transaction(name).objectStore(name).count(key);
            count.onsuccess = () => {
              found(count.result > 0);
              result.close();
            };
          };
        }),
      [store, path] as const,
    ),
  );
const row = (name: string) =>
  page.locator('.file-row', { has: page.getByText(name, { exact: true }) });
const file = (name: string) => row(name).locator('.entry');

async function restart(): Promise<void> {
  await restarts(page, () => page.evaluate(() => window.kubetab.restart()));
}

test('what a command writes is in the editor, and is there after a restart of the engine', async () => {
  await says('ls').toContain('deployment.yaml');
  await run("mkdir -p notes; echo 'from: terminal' > notes/made.yaml; rm boat.yaml");
  await run("echo 'alias hi=\"echo hello\"' > .bashrc; printf '\\377\\376' > binary.dat");
  await page.getByText('made.yaml').first().waitFor();
  await isKept('notes/made.yaml', 'files').toBe(true);
  await isKept('boat.yaml', 'files').toBe(false);
  await isKept('.bashrc', 'others').toBe(true);
  await isKept('binary.dat', 'others').toBe(true);
  await restart();
  await says('cat notes/made.yaml').toBe('from: terminal\n');
  await says('cat .bashrc').toContain('alias hi');
  await says('wc -c < binary.dat').toContain('2');
  expect(await run('ls')).not.toContain('boat.yaml');
  expect(await run('kubectl config current-context')).toBe('kubetab-admin\n');
});

test('what is typed into the editor is the file of the terminal, over a restart and a reload', async () => {
  await says('ls').toContain('service.yaml');
  await page.getByText('service.yaml').first().click();
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('# typed here\n');
  await says('head -1 service.yaml').toBe('# typed here\n');
  // What a command writes elsewhere in the file leaves the cursor where it is.
  await run('echo "# by a command" >> service.yaml');
  await page.locator('.cm-content').getByText('# by a command').waitFor();
  await page.keyboard.type('# and here\n');
  await says('head -2 service.yaml; tail -1 service.yaml').toBe(
    '# typed here\n# and here\n# by a command\n',
  );
  await restart();
  await says('head -1 service.yaml').toBe('# typed here\n');

  // While no page looks, the engine of a SharedWorker goes on: its files count, and not the copy.
  const other = await visitor.context.newPage();
  await other.goto(`${visitor.url}#settings`);
  await ready(other);
  await page.close();
  page = other;
  await run("echo '# by a command' > service.yaml; rm deployment.yaml");
  await page.goto(`${visitor.url}#files`);
  await ready(page);
  await page.getByText('service.yaml').first().waitFor();
  await says('head -1 service.yaml').toBe('# by a command\n');
  await expect.poll(() => file('deployment.yaml').count()).toBe(0);
  expect(await run('ls')).not.toContain('deployment.yaml');
});

test('a file has all that is typed and all that a command writes at the same time', async () => {
  await says('ls').toContain('service.yaml');
  await file('service.yaml').click();
  await page.getByRole('textbox', { name: 'Text of service.yaml' }).click();
  await page.keyboard.press('Control+Home');
  const writing = run(
    'for i in $(seq 20); do echo "# written $i" >> service.yaml; sleep 0.05; done',
  );
  for (let n = 1; n <= 20; n++) await page.keyboard.type(`# typed ${n}\n`);
  await writing;
  const all = Array.from({ length: 20 }, (_, n) => [
    `# typed ${n + 1}`,
    `# written ${n + 1}`,
  ]).flat();
  await expect
    .poll(async () =>
      (await run('cat service.yaml'))
        .split('\n')
        .filter((line) => all.includes(line))
        .toSorted(),
    )
    .toEqual(all.toSorted());
  const text = page.getByRole('textbox', { name: 'Text of service.yaml' });
  await expect.poll(() => text.textContent()).toContain('# written 20');
});

test('what was done to a file can be undone after another one was looked at', async () => {
  const text = page.locator('.editor-pane .cm-content');
  await file('service.yaml').click();
  await page.getByRole('textbox', { name: 'Text of service.yaml' }).click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('# first ');
  await expect.poll(() => text.textContent()).toContain('# first ');
  await file('boat.yaml').click();
  await page.getByRole('textbox', { name: 'Text of boat.yaml' }).waitFor();
  await file('service.yaml').click();
  await page.getByRole('textbox', { name: 'Text of service.yaml' }).click();
  expect(await text.textContent()).toContain('# first ');
  await page.keyboard.press('Control+z');
  await expect.poll(() => text.textContent()).not.toContain('# first ');
  // As z it would be Control+z to CodeMirror, as long as there is something to undo: where keys come slowly, each is a step.
  await page.keyboard.press('Control+Shift+Z');
  await expect.poll(() => text.textContent()).toContain('# first ');

  // A command wrote to it meanwhile: that is a step like any other.
  await file('boat.yaml').click();
  await page.getByRole('textbox', { name: 'Text of boat.yaml' }).waitFor();
  await expect
    .poll(async () => {
      // Again, should it have been written before the last of what was typed was kept.
      await run("echo '# by a command' > service.yaml");
      return row('service.yaml').textContent();
    })
    .toContain('15 B');
  await file('service.yaml').click();
  await page.getByRole('textbox', { name: 'Text of service.yaml' }).click();
  await expect.poll(() => text.textContent()).toBe('# by a command');
  await page.keyboard.press('Control+z');
  await expect.poll(() => text.textContent()).toContain('# first ');
  await says('head -c 8 service.yaml').toBe('# first ');
});

test('a file that was removed can be had again', async () => {
  await says('ls').toContain('boats.yaml');
  const before = await run('cat boats.yaml');
  await row('boats.yaml').getByRole('button', { name: 'Remove' }).click();
  await says('ls').not.toContain('boats.yaml');
  await page.locator('.notice', { hasText: 'boats.yaml was removed.' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await file('boats.yaml').waitFor();
  await says('cat boats.yaml').toBe(before);
  expect(await page.locator('.notice').count()).toBe(0);
});

test('contexts of the terminal come back after the engine has ended, and one that is none is told of', async () => {
  await says('kubectl config current-context').toBe('kubetab-admin\n');
  await run(
    'kubectl config set-context mine --cluster=kubetab --user=kubetab-view --namespace=kube-system; kubectl config use-context mine',
  );
  await isKept('.kube/config', 'others').toBe(true);
  await expect.poll(() => keptKubeconfig()).toContain('current-context: mine');
  expect(await keptKubeconfig()).toContain('token: kubetab:kubetab-admin');
  await restart();
  await says('kubectl config current-context').toBe('mine\n');
  await says('kubectl auth whoami -o jsonpath={.status.userInfo.username}').toBe('kubetab-view');
  // The page is who kubectl is.
  await page.locator('.identity.is-other').waitFor();
  await run('kubectl config use-context kubetab-admin; echo kept > other.txt');
  await isKept('other.txt', 'files').toBe(true);
  await expect.poll(() => keptKubeconfig()).toContain('current-context: kubetab-admin');

  // News of the file that is still on its way puts it right again.
  const broken = 'apiVersion: v1\nkind: Config\ncontexts: [{';
  let tries = 0;
  await expect
    .poll(async () => {
      await keptKubeconfig(broken);
      const later = `later-${++tries}.txt`;
      await run(`echo ${later} > ${later}`);
      await isKept(later, 'files').toBe(true);
      return keptKubeconfig();
    })
    .toBe(broken);
  await restart();
  await page
    .getByText('The kubeconfig of an earlier visit cannot be read', { exact: false })
    .waitFor();
  await says('kubectl config get-contexts -o name').toBe(
    'kubetab-admin\nkubetab-edit\nkubetab-view\n',
  );
  expect(await run('cat kubeconfig.unreadable')).toContain('contexts: [{');
  expect(await run('cat other.txt')).toBe('kept\n');
});

/** The kubeconfig in the copy, or what it is to be. */
const keptKubeconfig = (text?: string) =>
  page.evaluate(
    (wanted) =>
      new Promise<string>((told) => {
        indexedDB.open('kubetab-workspace').onsuccess = ({ target }) => {
          const { result } = target as IDBOpenDBRequest;
          const store = result.transaction('others', 'readwrite').objectStore('others');
          if (wanted !== undefined) store.put(new TextEncoder().encode(wanted), '.kube/config');
          const found = store.get('.kube/config');
          found.onsuccess = () => {
            told(new TextDecoder().decode(found.result as Uint8Array));
            result.close();
          };
        };
      }),
    text,
  );
