import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { docsSite, newReader, watchPlaces } from './docs-site';

// What a reader does with the blocks of a page that run.

const reader = newReader();
const { openDocs, sample, strict, ends } = reader;

test('before anything has run, a page has fetched one script', async () => {
  const fetched: string[] = [];
  const docs = await docsSite({ '/': sample('plain.html'), '/plain.css': '' });
  ends.push(() => docs.close());
  const page = await reader.context.newPage();
  let bytes = 0;
  page.on('response', async (response) => {
    if (!response.url().startsWith(reader.url)) return;
    fetched.push(new URL(response.url()).pathname);
    bytes += Number((await response.allHeaders())['content-length']);
  });
  await page.goto(docs.url);
  await page.getByRole('button', { name: 'Run' }).last().waitFor();
  await page.waitForLoadState('networkidle');
  expect(fetched).toEqual(['/embed.js']);
  expect(bytes).toBeLessThan(8192);
});

test.each([
  [
    'Docusaurus',
    ' data-has-hydrated="false"',
    '',
    () => document.documentElement.setAttribute('data-has-hydrated', 'true'),
  ],
  [
    'VitePress',
    '',
    '<script>window.__VP_HASH_MAP__ = {}</script>',
    () => Object.assign(document.querySelector('#app') ?? {}, { __vue_app__: {} }),
  ],
])(
  'a page of %s is left alone until its script has taken it over',
  async (_, root, script, take) => {
    const page = await openDocs(
      `<!doctype html><html lang="en"${root}><title>docs</title>${script}
<script src="${reader.url}embed.js" data-selector="pre code" defer></script>
<div id="app"><pre><code>echo</code></pre></div>`,
    );
    expect(await page.evaluate(() => typeof customElements.get('kubetab-snippet'))).toBe(
      'function',
    );
    expect(await page.locator('kubetab-snippet').count()).toBe(0);
    await page.evaluate(take);
    await page.getByRole('button', { name: 'Run' }).waitFor();
  },
);

/** Beside those of the sample. */
const MORE = `<pre><code>echo late</code></pre><kubetab-snippet id="late" init-delay="400"></kubetab-snippet>
<p>Nothing is shown of this:</p>
<pre><code>kubectl create namespace quiet</code></pre><kubetab-snippet id="quiet" output-mode="hidden"></kubetab-snippet>
<pre><code>seq 5</code></pre><kubetab-snippet id="roomy" output-lines="4" picture></kubetab-snippet>
<p>One line is expected, and less room than the output would like:</p>
<pre><code>seq 5</code></pre><kubetab-snippet id="small" output="@next .inner"></kubetab-snippet><div><pre class="inner">5</pre></div>
<p>Nothing can run here:</p>
<pre><code>seq 5</code></pre><kubetab-snippet id="lost" depends-on="nobody"></kubetab-snippet></main>`;

test('a page stays as it is when the script comes, when nothing can run, and when something runs', async () => {
  const html = sample('plain.html').replace('</main>', MORE);
  const page = await openDocs(html, strict(), {}, (empty) =>
    empty.route('**/embed.js', (r) => r.abort()),
  );
  const tops = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('p, pre')].map(
        (each) => each.getBoundingClientRect().top + scrollY,
      ),
    );
  const before = await tops();
  await page.unroute('**/embed.js');
  await page.route('**/embed.html*', (route) => route.abort());
  await page.addInitScript(() => {
    const made = new Map<string, number>();
    document.addEventListener(
      'load',
      ({ target, timeStamp }) => {
        if (target instanceof HTMLElement) made.set(target.id, timeStamp);
      },
      true,
    );
    Object.assign(window, { made });
  });
  await page.reload();
  const snippet = (id: string) => page.locator(`#${id}`);
  const button = (id: string, name: string) => snippet(id).getByRole('button', { name });
  await button('late', 'Run').waitFor();
  expect(await tops()).toEqual(before);
  const waited = await page.evaluate(() => {
    const { made } = window as unknown as { made: Map<string, number> };
    return (made.get('late') ?? 0) - (made.get('quiet') ?? 0);
  });
  // 400, less what the frame of the other one took to load.
  expect(waited).toBeGreaterThan(200);

  // From now on nothing moves, in no frame that is drawn.
  const places = await watchPlaces(page);
  /** The message of the next event `error` of a snippet. */
  const errorOf = (id: string) =>
    snippet(id).evaluate(
      (element) =>
        new Promise<string>((told) => {
          const tell = (event: Event) => told(String((event as CustomEvent<Error>).detail));
          element.addEventListener('error', tell, { once: true });
        }),
    );
  const unreachable = errorOf('scale');
  await button('scale', 'Run').click();
  await snippet('scale')
    .getByText(/This cannot run here now/)
    .waitFor();
  expect(await unreachable).toBe(`Error: ${new URL(reader.url).origin} does not answer.`);
  await page.locator('#expected').getByText('deployment.apps/shop scaled').waitFor();
  // The next try may find the network there again.
  await page.unroute('**/embed.html*');
  await button('scale', 'Run').click();
  await page.locator('#scale[state=succeded]').waitFor();
  const picture = (id: string) => snippet(id).frameLocator('.picture iframe').locator('.picture');
  await picture('scale').getByText('shop').first().waitFor();
  await button('scale', 'Reset').click();
  await page.locator('#expected').getByText('deployment.apps/shop scaled').waitFor();
  await button('quiet', 'Run').click();
  await page.locator('#quiet[state=succeded]').waitFor();
  expect(await snippet('quiet').locator('.output').isVisible()).toBe(false);

  // Beside what is printed, there is the picture.
  await button('roomy', 'Edit').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('; kubectl get namespace quiet -o name');
  const [workbench] = await Promise.all([
    page.context().waitForEvent('page'),
    snippet('roomy').getByRole('link', { name: 'Open in Kubetab' }).click(),
  ]);
  const offer = workbench.getByRole('dialog', { name: 'Files from a link' });
  await offer.getByText('lines.sh').waitFor();
  await offer.locator('summary').click();
  await offer.getByText('seq 5; kubectl get namespace quiet -o name').waitFor();
  await workbench.close();
  await button('roomy', 'Run').click();
  await page.locator('#roomy[state=succeded]').waitFor();
  const output = snippet('roomy').locator('.output');
  expect(await output.textContent()).toBe('1\n2\n3\n4\n5\nnamespace/quiet\n');
  await picture('roomy').getByText('shop').first().waitFor();
  const [left, right] = [
    await output.boundingBox(),
    await snippet('roomy').locator('.picture').boundingBox(),
  ];
  expect(right?.y).toBe(left?.y);
  expect(right?.x).toBeGreaterThan((left?.x ?? 0) + (left?.width ?? 0));
  await button('roomy', 'Reset').click();
  expect(await output.textContent()).toBe('');
  await expect.poll(() => page.locator('pre > code', { hasText: /^seq 5$/ }).count()).toBe(3);

  // What is printed is more than there is room for.
  const runs = async (id: string) => {
    await button(id, 'Run').click();
    await page.locator(`#${id}:is([state=succeded], [state=failed])`).waitFor();
  };
  await runs('small');
  const small = page.locator('kubetab-output:has(+ .inner)');
  const inner = page.locator('.inner');
  const box = async (locator: Locator) => locator.boundingBox();
  expect(await box(small)).toEqual(await box(inner));
  expect(await inner.isVisible()).toBe(false);
  const lost = errorOf('lost');
  await runs('lost');
  expect(await lost).toBe('Error: There is no #nobody in this page.');
  expect(await places()).toHaveLength(1);

  // The reader may see all of it. Reset takes that back.
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  const whole = small.getByRole('button', { name: 'Whole output', expanded: false });
  await whole.click();
  const text = small.locator('.output');
  expect(await text.evaluate((it) => it.scrollHeight - it.clientHeight)).toBe(0);
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeGreaterThan(height);
  await button('small', 'Reset').click();
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBe(height);
  expect(await inner.isVisible()).toBe(true);

  // On a phone the words have a line of their own, and those of a failure two.
  await page.setViewportSize({ width: 360, height: 740 });
  const onPhone = await watchPlaces(page);
  for (const id of ['create', 'small', 'lost']) await runs(id);
  await button('small', 'Reset').click();
  expect(await onPhone()).toHaveLength(1);
});

const ran = (id: string) => `#${id}:not([state=running])[state]`;

test('a block prints as it goes and can be stopped, and shells last', async () => {
  const page = await openDocs(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>docs</title>
<script src="${reader.url}embed.js" data-setup="#setup manifests/setup.yaml" data-eager defer></script>
<script type="application/yaml" id="setup">{apiVersion: v1, kind: ConfigMap, metadata: {name: laid-out}}</script>
<script type="text/plain" id="greeting">greet() { echo "hello, $*"; }
##CODE##</script>
<pre><code>kubectl get configmap -w -o name</code></pre><kubetab-snippet id="watch" session="both"></kubetab-snippet>
<pre><code>kubectl create configmap made; name=value; cd /tmp</code></pre><kubetab-snippet id="make"></kubetab-snippet>
<pre><code>echo "$name, $PWD"</code></pre><kubetab-snippet id="after" depends-on="make" output="@next"></kubetab-snippet>
<pre>value, /tmp</pre>
<pre><code>echo "$?, $name"</code></pre><kubetab-snippet id="other" session="both"></kubetab-snippet>
<pre><code>greet '$&'</code></pre><kubetab-snippet id="greet" template="#greeting"></kubetab-snippet>`,
    {},
    { '/manifests/setup.yaml': '{apiVersion: v1, kind: ConfigMap, metadata: {name: fetched}}' },
  );
  const button = (id: string, name: string) => page.locator(`#${id}`).getByRole('button', { name });
  const output = (id: string) => page.locator(`#${id} .output`);
  // Nobody has clicked, and the engine begins.
  await page.waitForSelector('iframe[src*="embed.html"]', { state: 'attached' });

  await button('watch', 'Run').click();
  const height = () =>
    page.locator('#watch').evaluate((snippet) => (snippet as HTMLElement).offsetHeight);
  const before = await height();
  await expect.poll(() => output('watch').textContent()).toContain('configmap/laid-out\n');
  expect(await output('watch').textContent()).toContain('configmap/fetched\n');

  // A block that depends on another has its shell.
  await button('after', 'Run').click();
  await page.waitForSelector(ran('after'));
  // It stands where the page says what is printed.
  const next = page.locator('kubetab-output:has(+ pre)').locator('.output');
  expect(await next.textContent()).toBe('value, /tmp\n');
  expect(
    await page.getByText('value, /tmp', { exact: true }).filter({ visible: true }).count(),
  ).toBe(1);
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
