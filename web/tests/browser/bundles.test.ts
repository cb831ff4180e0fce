import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unzipSync } from 'fflate';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { controlled, launch, ready } from './browser';
import { openSite, type Site } from './site';

// A cluster as a file: from the page to the native server and back, object by object.

const kubetab = resolve(import.meta.dirname, '../../../bin/kubetab');
const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
const natives: ChildProcess[] = [];
/** A site of files, which lets pages of any other site read them. */
const files = createServer((request, response) => {
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.end(readFileSync(join(folder, request.url ?? '')));
});
let browser: Browser;
let site: Site;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  [browser, site] = await Promise.all([launch(), openSite()]);
  context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    acceptDownloads: true,
  });
  page = await context.newPage();
  await page.goto(`${site.url}#cluster`);
  await ready(page);
  await controlled(page);
});
afterAll(async () => {
  for (const each of natives) each.kill('SIGKILL');
  files.close();
  files.closeAllConnections();
  await browser?.close();
  await site?.close();
  rmSync(folder, { recursive: true, force: true });
});

const PATHS = [
  '/api/v1/namespaces',
  '/api/v1/configmaps',
  '/api/v1/secrets',
  '/api/v1/serviceaccounts',
  '/api/v1/services',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/scheduling.k8s.io/v1/priorityclasses',
];
/** Each cluster has its own of these. */
const OWN = ['kube-root-ca.crt', 'extension-apiserver-authentication'];

interface Item {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}
type Read = (path: string) => Promise<string>;

/** Everything that nobody changes by himself, as the API gives it. */
async function objects(read: Read): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const path of PATHS) {
    const { items } = JSON.parse(await read(path)) as { items: readonly Item[] };
    for (const item of items) {
      const { name, namespace = '' } = item.metadata;
      if (!OWN.includes(name)) found[`${path} ${namespace}/${name}`] = item;
    }
  }
  return found;
}

const inPage: Read = (path) => page.evaluate(async (p) => (await fetch(p)).text(), path);

/** What was there before and after something happened, when that is the same. */
async function still<T>(
  read: Read,
  doing: () => Promise<T>,
): Promise<[Record<string, unknown>, T]> {
  for (;;) {
    const before = await objects(read);
    const result = await doing();
    const after = await objects(read);
    if (JSON.stringify(before) === JSON.stringify(after)) return [after, result];
  }
}

/** Runs kubetab to its end. */
function run(...args: readonly string[]): Promise<string> {
  return new Promise((done, failed) => {
    const child = spawn(kubetab, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (piece) => {
      output += piece;
    });
    child.stderr.on('data', (piece) => {
      output += piece;
    });
    child.on('close', (code) => (code === 0 ? done(output) : failed(new Error(output))));
  });
}

interface Native {
  readonly read: Read;
  readonly kubeconfig: string;
  /** Address of the page. */
  readonly page: string;
}

/** Serves a bundle natively, and the page, which may open bundles of another site. */
async function serve(file: string, bundleFrom: string): Promise<Native> {
  const kubeconfig = join(folder, `kubeconfig-${natives.length}`);
  const dist = resolve(import.meta.dirname, '../../dist');
  const args = ['serve', '--from', file, '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0'];
  args.push('--static', dist, '--bundle-from', bundleFrom);
  const child = spawn(kubetab, [...args, '--kubeconfig', kubeconfig], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  natives.push(child);
  const output = await new Promise<string>((begun, failed) => {
    let output = '';
    child.stderr.on('data', (piece) => {
      output += piece;
    });
    child.stdout.on('data', (piece) => {
      output += piece;
      if (output.includes('export KUBECONFIG')) begun(output);
    });
    child.on('close', () => failed(new Error(output)));
  });
  const text = readFileSync(kubeconfig, 'utf8');
  const field = (name: string) => new RegExp(`${name}: (\\S+)`).exec(text)?.[1] ?? '';
  const token = /name: kubetab-admin\s+user:\s+token: (\S+)/.exec(text)?.[1];
  const ca = Buffer.from(field('certificate-authority-data'), 'base64');
  const read: Read = (path) =>
    new Promise((done, failed) => {
      const headers = { Authorization: `Bearer ${token}` };
      httpsRequest(field('server') + path, { ca, headers }, (answer) => {
        let body = '';
        answer.on('data', (piece) => {
          body += piece;
        });
        answer.on('end', () => done(body));
      })
        .on('error', failed)
        .end();
    });
  return { read, kubeconfig, page: `${/http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0]}/` };
}

async function openMenu(): Promise<void> {
  await page.locator('.cluster-button').click();
  await page.locator('.cluster-row').first().waitFor();
}

/** Saves the cluster of the page to a file, as a visitor does. */
async function save(name: string, secrets = true): Promise<string> {
  await openMenu();
  await page.locator('li:has([aria-current])').getByRole('button').first().click();
  await page.getByRole('button', { name: 'Save as a file', exact: true }).click();
  const box = page.getByRole('checkbox', { name: /With Secrets/ });
  await box.setChecked(secrets);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as a file', exact: true }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.kubetab$/);
  const path = join(folder, name);
  await download.saveAs(path);
  await page.keyboard.press('Escape');
  return path;
}

async function choose(file: string): Promise<void> {
  await openMenu();
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Open a file', exact: true }).click(),
  ]);
  await chooser.setFiles(file);
}

async function makeSecret(name: string): Promise<void> {
  const status = await page.evaluate(async (object) => {
    const answer = await fetch('/api/v1/namespaces/default/secrets', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ metadata: { name: object }, stringData: { of: 'a person' } }),
    });
    return answer.status;
  }, name);
  expect(status).toBe(201);
}

const clusterHere = () => page.evaluate(() => document.documentElement.dataset.cluster);

/** What the engine of the page has begun with. */
const from = () =>
  page.evaluate(() => {
    const { state } = window.kubetab;
    return state?.phase === 'ready' ? state.run.from : null;
  });

async function arrives(cluster: string): Promise<void> {
  await page.waitForFunction((name) => document.documentElement.dataset.cluster === name, cluster);
  await ready(page);
  await controlled(page);
}

test('a file that is no bundle is refused with a sentence, and nothing is made of it', async () => {
  const broken = join(folder, 'broken.kubetab');
  writeFileSync(broken, 'kind: Pod\n');
  await choose(broken);
  await page.getByText('The file cannot be opened, and nothing has been changed.').waitFor();
  expect(await clusterHere()).toBe('own');
  await page.keyboard.press('Escape');
});

test('a bundle without Secrets, dropped on the page, is a new cluster', async () => {
  await makeSecret('one');
  const file = await save('without.kubetab', false);
  const text = readFileSync(file).toString('base64');
  const drop = await page.evaluateHandle((base64) => {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], 'Dropped.kubetab'));
    return transfer;
  }, text);
  await page.locator('body').dispatchEvent('drop', { dataTransfer: drop });
  await arrives('dropped');
  expect(JSON.parse(await inPage('/api/v1/secrets'))).toMatchObject({ items: [] });
  await openMenu();
  await page.locator('.cluster-face').filter({ hasText: 'Your cluster' }).click();
  await arrives('own');
});

/** Runs lines in a shell of the engine, and returns what they print. */
const shell = (lines: string) =>
  page.evaluate(async (command) => {
    const answer = await window.kubetab.direct?.request('/kubetab/run', {
      method: 'POST',
      body: JSON.stringify({ command }),
    });
    const { stdout, stderr } = JSON.parse((await answer?.text()) ?? '{}');
    if (stderr) throw new Error(stderr);
    return stdout as string;
  }, lines);

/** Puts what belongs to this cluster alone into files and a Secret, and a person's word beside it. */
async function whatNobodyElseKnows(): Promise<Readonly<Record<string, string>>> {
  await shell(`echo of-a-person > note.txt; mkdir notes
cp ~/.kube/config notes/copied.txt; kubectl config view --raw -o json > raw.json
kubectl apply -f - <<EOF
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata: {name: token, annotations: {kubernetes.io/service-account.name: default}}
EOF
kubectl wait secret token --for jsonpath='{.data.token}'`);
  const asked = async (line: string) => {
    const printed = await shell(line);
    expect(printed.length, line).toBeGreaterThan(20);
    return printed;
  };
  const found: Record<string, string> = {};
  const tokens = await asked("kubectl config view --raw -o jsonpath='{.users[*].user.token}'");
  for (const [i, token] of tokens.split(' ').entries())
    found[`token ${i} of the kubeconfig`] = token;
  for (const name of ['token', 'ca.crt']) {
    const path = `{.data.${name.replace('.', '\\.')}}`;
    const data = await asked(`kubectl get secret token -o jsonpath='${path}'`);
    // Certificates in PEM begin alike.
    found[`${name} of the Secret`] = Buffer.from(data, 'base64').toString().slice(60);
    found[`${name} of the Secret, as it is stored in JSON`] = data.slice(80);
  }
  return found;
}

test('a second file of the same name is told apart, and the palette saves at once', async () => {
  const saving = async (command: string) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to or run' }).fill(command);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('option').filter({ hasText: command }).first().click(),
    ]);
    return download;
  };
  const secrets = await whatNobodyElseKnows();
  const download = await saving('Save this cluster as a file, with its Secrets');
  const path = join(folder, 'Shop.kubetab');
  await download.saveAs(path);
  const bytes = readFileSync(path);
  const body = gunzipSync(bytes.subarray(bytes.indexOf('1f8b', 'hex')));
  const yaml = await saving('Save what is in this cluster as YAML, with its Secrets');
  expect(yaml.suggestedFilename()).toMatch(/\.zip$/);
  await shell('kubectl delete secret token'); // another cluster gives it another token
  // An archive with a file for the namespace of the Secret.
  const archive = unzipSync(readFileSync(await yaml.path()));
  expect(Object.keys(archive)).toContain('manifests/2-default.yaml');
  expect(body.includes('of-a-person')).toBe(true);
  const handedOut = Buffer.concat([bytes, body, ...Object.values(archive)]);
  const found = Object.keys(secrets).filter((what) => handedOut.includes(secrets[what] ?? ''));
  expect(found).toEqual([]);
  await choose(path);
  await arrives('shop');
  await choose(path);
  await arrives('shop-2');
  await openMenu();
  await page.locator('.cluster-title').getByText('Shop (2)', { exact: true }).waitFor();
  await page.locator('.cluster-face').filter({ hasText: 'Your cluster' }).click();
  await arrives('own');
});

test('from the page to the native server and back by a link, object by object', async () => {
  await new Promise<void>((listening) => files.listen(0, 'localhost', listening));
  const elsewhere = `http://localhost:${(files.address() as AddressInfo).port}`;
  const link = (to: string) =>
    `${to}?${new URLSearchParams({ bundle: `${elsewhere}/from-native.kubetab` })}#cluster`;
  await makeSecret('two');
  const [inTab, file] = await still(inPage, () => save('from-page.kubetab'));
  const native = await serve(file, elsewhere);
  expect(await objects(native.read)).toEqual(inTab);

  const path = join(folder, 'from-native.kubetab');
  const save2 = () =>
    run(
      'bundle',
      'save',
      path,
      '--force',
      '--name',
      'Back again',
      '--kubeconfig',
      native.kubeconfig,
    );
  const [inServer] = await still(native.read, save2);
  expect(inServer).toEqual(inTab);

  // A host that has not allowed the site of the files, and then one that has.
  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto(link(site.url));
  const refusal = `The link names a file of another site, which this page may not ask. Download the file, and drop it on the page: ${elsewhere}/from-native.kubetab`;
  await page.getByText(refusal).waitFor();
  expect(await clusterHere()).toBe('own');
  await page.goto(link(native.page));
  await arrives('back-again');
  expect(await objects(inPage)).toEqual(inServer);

  // It goes on from the snapshot, though another engine has made it, and is kept.
  expect(await from()).toBe('snapshot');
  await page.reload();
  await arrives('back-again');
  expect(await from()).toBe('snapshot');
  expect(await objects(inPage)).toEqual(inServer);
});
