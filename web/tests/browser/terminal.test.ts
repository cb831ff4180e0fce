import { createHash } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { launch, ready, settlesTo } from './browser';
import { picture } from './camera';
import { openSite, type Site } from './site';

// kubectl in the tab, as a learner types it.

let browser: Browser;
let site: Site;
let context: BrowserContext;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  [browser, site] = await Promise.all([launch(), openSite()]);
  context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // The content security policy is one of those who complain here.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      complaints.push(message.text());
    }
  });
  await page.goto(site.url);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});
afterEach(() => {
  expect(complaints.splice(0)).toEqual([]);
});

const keyboard = () => page.locator('.terminal textarea');
/** The rows without what fills them up. */
const screen = async (of = page) =>
  // biome-ignore lint/performance/useDomNodeTextContent: the text of the DOM does not tell where a row ends
  (await of.locator('.terminal .xterm-rows').innerText())
    .split('\n')
    .map((row) => row.trimEnd())
    .join('\n')
    .trimEnd();

async function type(keys: string): Promise<void> {
  await keyboard().focus();
  await page.keyboard.type(keys);
}

/** Runs a line on an empty screen, and waits until what is there matches. */
async function run(line: string, sees: RegExp): Promise<void> {
  await type(`clear; ${line}\n`);
  await expect.poll(() => screen()).toMatch(sees);
}

test('what is typed while the engine starts runs when it is ready', async () => {
  await keyboard().waitFor();
  // A newcomer finds a command there.
  await expect.poll(() => screen()).toContain('kubectl get namespaces');
  await type('\n');
  await ready(page);
  await expect.poll(() => screen()).toMatch(/NAME +STATUS +AGE[\s\S]*kube-system +Active/);
});

test('a newcomer finds the first command once, also where the engine is there before the terminal', async () => {
  const visitor = await browser.newContext();
  const first = await visitor.newPage();
  await first.goto(site.url);
  await ready(first);
  const second = await visitor.newPage();
  await second.goto(site.url);
  await expect.poll(() => screen(second)).toBe('~ $ kubectl get namespaces');
  await visitor.close();
});

test('what a newcomer types before the shell is there takes the place of the first command', async () => {
  const visitor = await browser.newContext();
  const other = await visitor.newPage();
  await other.goto(site.url);
  await other.locator('.xterm-helper-textarea').focus();
  await expect.poll(() => screen(other)).toContain('kubectl get namespaces');
  await other.keyboard.type('echo mine\n');
  await ready(other);
  await expect.poll(() => screen(other)).toBe('~ $ echo mine\nmine\n~ $');
  await visitor.close();
});

test('keys that nothing else has go to the terminal, from the first moment on', async () => {
  const visitor = await browser.newContext();
  const other = await visitor.newPage();
  await other.goto(site.url);
  await expect.poll(() => screen(other)).toContain('kubectl get namespaces');
  await other.keyboard.press('Enter');
  await ready(other);
  await expect.poll(() => screen(other)).toMatch(/kube-system +Active[\s\S]*\$$/);

  const leave = () => other.evaluate(() => (document.activeElement as HTMLElement).blur());
  await leave();
  await other.keyboard.type('clear; echo it{1..3} | tr a-z A-Z\n');
  await expect.poll(() => screen(other)).toBe('IT1 IT2 IT3\n~ $');

  // Not those that are meant for something else: the browser's, a button's, the palette's, and those of a view without it.
  await leave();
  for (const key of ['Alt+x', 'ArrowDown', 'F2', 'Tab', 'Shift+Tab'])
    await other.keyboard.press(key);
  await other.getByRole('button', { name: /theme/i }).first().press('x');
  await leave();
  await other.keyboard.press('Control+k');
  await other.getByRole('combobox', { name: 'Go to or run' }).waitFor();
  await other.keyboard.type('w');
  await leave();
  await other.keyboard.type('v');
  await other.keyboard.press('Escape');
  await other.setViewportSize({ width: 390, height: 844 }); // where it is a screen of its own
  await expect.poll(() => other.locator('.terminal-place').isVisible()).toBe(false);
  await leave();
  await other.keyboard.type('u');
  await other.setViewportSize({ width: 1280, height: 720 });
  await other.evaluate(() => {
    location.hash = 'console';
  });
  await other.locator('.console-view').waitFor();
  await leave();
  await other.keyboard.type('y');
  await other.goBack();
  await other.locator('.xterm-rows').waitFor();
  await leave();
  await other.keyboard.type('z');
  await expect.poll(() => screen(other)).toBe('IT1 IT2 IT3\n~ $ z');
  await visitor.close();
});

test('keys wait for a terminal that is still being loaded', async () => {
  const visitor = await browser.newContext();
  const other = await visitor.newPage();
  let arrives = () => {};
  const late = new Promise<void>((resolve) => {
    arrives = resolve;
  });
  await other.route(/\/assets\/Terminal-[^/]*\.js$/, async (route) => {
    await late;
    await route.continue();
  });
  await other.goto(site.url, { waitUntil: 'commit' });
  await other.locator('.terminal-place').waitFor();
  await other.keyboard.type('echo earlz');
  await other.keyboard.press('Backspace');
  await other.keyboard.type('y\n');
  arrives();
  await ready(other);
  await expect.poll(() => screen(other)).toBe('~ $ echo early\nearly\n~ $');
  await visitor.close();
});

test('a Deployment is made, and its Pods are listed', async () => {
  await run(
    'kubectl create deployment typed --image=nginx && kubectl rollout status deployment/typed',
    /successfully rolled out/,
  );
  await run('kubectl get pods -l app=typed', /typed-\S+ +1\/1 +Running/);
});

test('Tab completes the names of objects', async () => {
  await type('clear\n');
  await type('kubectl get deploy typ\t-o name\n');
  await expect.poll(() => screen()).toContain('deployment.apps/typed');
});

test('Ctrl-C ends a watch, and its request in the engine', async () => {
  const watch = /labelSelector=app%3Dtyped.*watch=true/;
  await run('kubectl get pods -l app=typed -w', /typed-\S+ +1\/1 +Running/);
  await settlesTo(page, watch, 1);
  await keyboard().focus();
  await page.keyboard.press('Control+c');
  await expect.poll(() => screen()).toMatch(/\^C\n~ \$$/);
  await settlesTo(page, watch, 0);
  await run('echo still $((40 + 2))', /still 42/);
});

test('a shell in a container', async () => {
  await type('clear\n');
  await type('kubectl exec -it deploy/typed -- sh\n');
  await expect.poll(() => screen()).toMatch(/#$/);
  await type('hostname\n');
  await expect.poll(() => screen()).toMatch(/^typed-/m);
  await type('clear; while sleep 0.1; do echo on; done\n');
  await expect.poll(() => screen()).toMatch(/^on\non$/m);
  await page.keyboard.press('Control+c');
  await expect.poll(() => screen()).toMatch(/^\^C\n.*#$/m);
  await type('exit\n');
  await expect.poll(() => screen()).toMatch(/~ \$$/);
  await run('echo back', /^back/m);
});

test('a viewer is refused', async () => {
  await run(
    'kubectl --context kubetab-view delete deployment typed',
    /Error from server \(Forbidden\): deployments.apps "typed" is forbidden/,
  );
});

test('a hostile line is only text', async () => {
  const title = await page.title();
  await run(
    "printf 'a\\033]0;renamed\\007b\\033]7373;edit;ZTE=;L2V0Yy9wYXNzd2Q=\\007c\\033[2Jd <b>bold</b>\\n'",
    /abcd <b>bold<\/b>/,
  );
  expect(await page.title()).toBe(title);
  expect(await page.locator('.terminal b').count()).toBe(0);
});

test('page and terminal are the same person, whoever changes it', async () => {
  await page.getByLabel('Acting as').selectOption('kubetab-view');
  await expect.poll(() => screen()).toMatch(/\(kubetab-view\) ~ \$$/);
  await run(
    'kubectl auth whoami; kubectl delete deployment typed',
    /kubetab-view[\s\S]*Error from server \(Forbidden\)/,
  );
  await run('kubectl config use-context kubetab-edit', /\(kubetab-edit\) ~ \$$/);
  await expect.poll(() => page.getByLabel('Acting as').inputValue()).toBe('kubetab-edit');
  await run('kubectl annotate deployment typed by=editor', /deployment.apps\/typed annotated/);
  await run('kubectl create clusterrole more --verb=get --resource=pods', /Forbidden/);
  await picture(page, 'terminal-editor');
  // A page that comes later asks the terminal.
  await page.reload();
  await ready(page);
  await expect.poll(() => page.getByLabel('Acting as').inputValue()).toBe('kubetab-edit');
  await run('kubectl config use-context kubetab-admin', /\n~ \$$|^~ \$$/);
  await expect.poll(() => page.getByLabel('Acting as').inputValue()).toBe('kubetab-admin');
  // What keeps kubectl from it is said, and when it is gone they are the same again.
  await run("echo '{' > ~/.kube/config; echo $?", /^0$/m);
  await page.getByLabel('Acting as').selectOption('kubetab-view');
  await page.locator('.notice').getByText('kubectl in the terminal stays who it was').waitFor();
  await page.locator('.notice').getByRole('button', { name: 'Dismiss' }).click();
  await run('rm ~/.kube/config', /~ \$$/);
  await expect.poll(() => page.getByLabel('Acting as').inputValue()).toBe('kubetab-admin');
  await run('kubectl auth whoami', /kubetab-admin/);
});

/** Pastes into the terminal, as the browser does. */
async function paste(text: string): Promise<void> {
  await keyboard().evaluate((into, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', pasted);
    into.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
  }, text);
}

test('a paste of more than a megabyte arrives whole', async () => {
  const text = '    description: what the field means, 世界 and all 🚢\n'.repeat(20_000);
  await run("cat >pasted.yaml <<'EOF'", /^>$/m);
  await paste(text);
  await type('EOF\nclear; wc -c <pasted.yaml; md5sum <pasted.yaml\n');
  const bytes = Buffer.byteLength(text);
  const sum = createHash('md5').update(text).digest('hex');
  await expect.poll(() => screen()).toBe(`${bytes}\n${sum}  -\n~ $`);
});

test('tabs of a paste are text, and Tab still completes', async () => {
  const rule = 'all:\n\t@echo built\n';
  const sum = createHash('md5').update(rule).digest('hex');
  await run("cat >Makefile <<'EOF'", /^>$/m);
  await paste(rule);
  await type('EOF\n');
  await run('md5sum <Makefi\t', new RegExp(`^${sum}  -\n~ \\$$`));
  await run('cat >Makefile', /^$/);
  await paste(rule);
  await page.keyboard.press('Control+d');
  await run('md5sum <Makefile', new RegExp(`^${sum}  -\n~ \\$$`));
});

test('Ctrl-C throws away what was pasted for a command that does not read it', async () => {
  await run('echo begun; sleep 10000', /^begun$/);
  await paste('echo pasted\n'.repeat(120_000));
  await page.keyboard.press('Control+c');
  await expect.poll(() => screen()).toMatch(/\^C\n~ \$$/);
  await run('echo and on', /^and on\n~ \$$/);
});

test('a history of long lines does not keep a terminal from being opened', async () => {
  const visitor = await browser.newContext();
  await visitor.addInitScript(() => {
    const lines = Array.from({ length: 50 }, (_, i) => `echo ${i} ${'x'.repeat(40_000)}`);
    localStorage.setItem('kubetab.terminal.history', JSON.stringify(['echo kept', ...lines]));
  });
  const other = await visitor.newPage();
  await other.goto(site.url);
  await ready(other);
  await expect.poll(() => screen(other)).toBe('~ $');
  await other.locator('.xterm-helper-textarea').focus();
  await other.keyboard.press('ArrowUp');
  await expect.poll(() => screen(other)).toBe('~ $ echo kept');
  await visitor.close();
});

test('a file of the documentation is applied from its address, and other sites are refused', async () => {
  const asked: string[] = [];
  await context.route('https://raw.githubusercontent.com/**', async (route) => {
    asked.push(route.request().url());
    const isThere = route.request().url().endsWith('/pods/simple-pod.yaml');
    await route.fulfill({
      status: isThere ? 200 : 404,
      headers: { 'Access-Control-Allow-Origin': '*', 'Content-Type': 'text/plain' },
      body: isThere
        ? 'apiVersion: v1\nkind: Pod\nmetadata: {name: of-the-web}\nspec: {containers: [{name: a, image: nginx}]}\n'
        : '404: Not Found',
    });
  });
  await run(
    'kubectl apply -f https://k8s.io/examples/pods/simple-pod.yaml',
    /pod\/of-the-web created/,
  );
  await run(
    'kubectl apply -f https://k8s.io/examples/none.yaml',
    /error: unable to read URL "https:\/\/k8s\.io\/examples\/none\.yaml", server reporte\s?d 404 Not Found/,
  );
  const examples = 'https://raw.githubusercontent.com/kubernetes/website/main/content/en/examples/';
  expect(asked).toEqual([`${examples}pods/simple-pod.yaml`, `${examples}none.yaml`]);

  await type('clear; kubectl create -f https://files.example.org/a.yaml\n');
  const words = async () => (await screen()).replace(/\s+/g, ''); // rows end within words
  await expect
    .poll(words)
    .toContain(
      'files.example.org:thehostofthispagedoesnotletitfetchfromthatsite.Pastethetextofthefile:kubectlapply-f-',
    );
  const refusals = complaints.splice(0);
  expect(refusals.length).toBeGreaterThan(0);
  for (const each of refusals) expect(each).toContain('Content Security Policy');

  // What the terminal has told the page is told again after a reload.
  await page.reload();
  await ready(page);
  await run('kubectl delete pod of-the-web --wait=false', /pod "of-the-web" deleted/);
  expect(asked).toHaveLength(2);
  expect(complaints.splice(0)).toEqual([]);
  await context.unroute('https://raw.githubusercontent.com/**');
});

test('a page that is reloaded fetches what a command still waits for', async () => {
  let asked = 0;
  await context.route('https://raw.githubusercontent.com/**', async (route) => {
    asked++;
    if (asked === 1) return; // nobody answers
    const headers = { 'Access-Control-Allow-Origin': '*' };
    await route.fulfill({ headers, body: 'it has arrived\n' });
  });
  await type('clear; curl -s https://raw.githubusercontent.com/a/b/c | tr a-z A-Z\n');
  await expect.poll(() => asked).toBe(1);
  await page.reload();
  await ready(page);
  await expect.poll(() => screen()).toContain('IT HAS ARRIVED');
  expect(asked).toBe(2);
  await context.unroute('https://raw.githubusercontent.com/**');
});

test('a page that is reloaded shows the editor that a command still waits for, and no other', async () => {
  await type('clear; kubectl edit namespace default\n');
  const edit = page.locator('.pending-edit');
  await edit.waitFor();
  await page.reload();
  await ready(page);
  await edit.waitFor();
  await edit.getByRole('button', { name: 'Leave it as it was' }).click();
  await edit.waitFor({ state: 'detached' });
  await run('echo over', /^over$/m);
  await page.reload();
  await ready(page);
  await run('echo again', /^again$/m);
  expect(await edit.count()).toBe(0);
});

test('what is printed while a page is reloaded is there afterwards, and once', async () => {
  // As many rows as fit on the screen.
  const rows = Array.from({ length: 8 }, (_, i) => String(i));
  await run('for i in $(seq 0 7); do echo $i; sleep 0.4; done', /^1$/m);
  // What the engine sends to a page that is busy is never shown if the page goes then.
  const loaded = page.waitForEvent('load');
  await page.evaluate(() => {
    const until = performance.now() + 1500;
    while (performance.now() < until);
    location.reload();
  });
  await loaded;
  await ready(page);
  await expect.poll(() => screen()).toMatch(/^7\n~ \$$/m);
  expect((await screen()).split('\n').filter((row) => /^\d+$/.test(row))).toEqual(rows);
});

test('a reload finds the terminal as it was, and its history', async () => {
  await run('name=remembered; echo set', /^set/m);
  await page.reload();
  await ready(page);
  await expect.poll(() => screen()).toMatch(/^set\n~ \$$/m);
  await type('echo $name\n');
  await expect.poll(() => screen()).toMatch(/^remembered/m);
  await keyboard().focus();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await expect.poll(() => screen()).toMatch(/\$ clear; name=remembered; echo set\s*$/);
  await page.keyboard.press('Control+c');
});
