import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unzipSync } from 'fflate';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { settingsOfBundle } from '../../src/engine/bundle-settings';
import { arrives, controlled, launch, ready } from './browser';
import { openSite, type Site } from './site';

// A cluster as a file: from the page to the native server and back, object by object.

const bin = resolve(import.meta.dirname, '../../../bin');
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

/** Past the service worker, which passes on what is the API's alone. */
const direct: Read = (path) =>
  page.evaluate(async (p) => (await window.kubetab.direct?.request(p))?.text() ?? '', path);

/** What was there before and after something happened, when that is the same. */
async function still<T>(
  look: () => Promise<Record<string, unknown>>,
  doing: () => Promise<T>,
): Promise<[Record<string, unknown>, T]> {
  for (;;) {
    const before = await look();
    const result = await doing();
    const after = await look();
    if (JSON.stringify(before) === JSON.stringify(after)) return [after, result];
  }
}

/** Runs a program of bin to its end, with what it shall read. */
function run(program: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((done, failed) => {
    const child = spawn(join(bin, program), args);
    child.stdin.end(input);
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

/** Serves a cluster natively, and the page. */
async function serve(...flags: readonly string[]): Promise<Native> {
  const kubeconfig = join(folder, `kubeconfig-${natives.length}`);
  const dist = resolve(import.meta.dirname, '../../dist');
  const args = ['serve', '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0', '--static', dist];
  const child = spawn(join(bin, 'kubetab'), [...args, '--kubeconfig', kubeconfig, ...flags], {
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

function saveNative({ kubeconfig }: Native, path: string, name: string): Promise<string> {
  return run('kubetab', [
    'bundle',
    'save',
    path,
    '--force',
    '--name',
    name,
    '--kubeconfig',
    kubeconfig,
  ]);
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

/** What has been fetched and done for the engine of the page. */
const stages = () =>
  page.evaluate(() => {
    const { state } = window.kubetab;
    return state?.phase === 'ready' ? state.stages.map(({ name }) => name) : [];
  });

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
  await arrives(page, 'dropped');
  expect(JSON.parse(await inPage('/api/v1/secrets'))).toMatchObject({ items: [] });
  await openMenu();
  await page.locator('.cluster-face').filter({ hasText: 'Your cluster' }).click();
  await arrives(page, 'own');
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

/** The cluster in a bundle, inflated. */
const bodyOf = (bundle: Buffer) => gunzipSync(bundle.subarray(bundle.indexOf('1f8b', 'hex')));

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
  const body = bodyOf(bytes);
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
  await arrives(page, 'shop');
  await choose(path);
  await arrives(page, 'shop-2');
  await openMenu();
  await page.locator('.cluster-title').getByText('Shop (2)', { exact: true }).waitFor();
  await page.locator('.cluster-face').filter({ hasText: 'Your cluster' }).click();
  await arrives(page, 'own');
});

test('from the page to the native server and back by a link, object by object', async () => {
  await new Promise<void>((listening) => files.listen(0, 'localhost', listening));
  const elsewhere = `http://localhost:${(files.address() as AddressInfo).port}`;
  const link = (to: string) =>
    `${to}?${new URLSearchParams({ bundle: `${elsewhere}/from-native.kubetab` })}#cluster`;
  await makeSecret('two');
  const [inTab, file] = await still(
    () => objects(inPage),
    () => save('from-page.kubetab'),
  );
  const native = await serve('--from', file, '--fetch-from', elsewhere);
  expect(await objects(native.read)).toEqual(inTab);

  const path = join(folder, 'from-native.kubetab');
  const [inServer] = await still(
    () => objects(native.read),
    () => saveNative(native, path, 'Back again'),
  );
  expect(inServer).toEqual(inTab);

  // A host that has not allowed the site of the files, and then one that has.
  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto(link(site.url));
  const refusal = `The link names a file of another site, which this page may not ask. Download the file, and drop it on the page: ${elsewhere}/from-native.kubetab`;
  await page.getByText(refusal).waitFor();
  expect(await clusterHere()).toBe('own');
  await page.goto(link(native.page));
  await arrives(page, 'back-again');
  // What opens a bundle, and kubectl get, are not in the rest of the module. A list of ClusterRoles is.
  expect(await shell('kubectl get secret two')).toMatch(/^NAME .*\ntwo /);
  expect(await stages()).not.toContain('rest');
  expect(await objects(inPage)).toEqual(inServer);

  // It goes on from the snapshot, though another engine has made it, and is kept.
  expect(await from()).toBe('snapshot');
  await page.reload();
  await arrives(page, 'back-again');
  expect(await from()).toBe('snapshot');
  expect(await objects(inPage)).toEqual(inServer);
});

/** What people and controllers have: a kind of its own with an object, Pods with their owners, and a volume. */
const HARBOUR = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.sea.example}
spec:
  group: sea.example
  scope: Namespaced
  names: {kind: Boat, plural: boats}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: nginx, volumeMounts: [{name: data, mountPath: /data}]}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`;
const BOAT = '{apiVersion: sea.example/v1, kind: Boat, metadata: {name: ada}, spec: {sails: 2}}';

/**
 * Kinds of which kubelets and controllers write the status, and do so again where the nodes of a cluster start again: of
 * them only what stays is compared.
 */
const LIVE = ['nodes', 'pods', 'replicasets', 'deployments', 'endpoints', 'endpointslices'];
/** What a running cluster makes and renews as long as it runs, and what each cluster has of its own. */
const PASSING = ['events', 'leases', 'clustertrustbundles'];

/** Every object of every kind, whole or with what stays of it. */
async function everything(read: Read): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const { groups } = JSON.parse(await read('/apis')) as {
    groups: { preferredVersion: { groupVersion: string } }[];
  };
  const versions = groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`);
  for (const version of ['/api/v1', ...versions]) {
    const { resources } = JSON.parse(await read(version)) as {
      resources: { name: string; verbs: string[] }[];
    };
    for (const { name: kind, verbs } of resources) {
      // What cannot be created is not stored.
      if (!['list', 'create'].every((verb) => verbs.includes(verb)) || PASSING.includes(kind))
        continue;
      const { items } = JSON.parse(await read(`${version}/${kind}`)) as { items: Stored[] };
      for (const item of items) {
        const { name, namespace = '', uid, creationTimestamp, ownerReferences } = item.metadata;
        if (OWN.includes(name)) continue;
        found[`${version}/${kind} ${namespace}/${name}`] = LIVE.includes(kind)
          ? { uid, creationTimestamp, ownerReferences, spec: item.spec }
          : item;
      }
    }
  }
  return found;
}

interface Stored {
  readonly metadata: Item['metadata'] & Readonly<Record<string, unknown>>;
  readonly spec?: unknown;
}

test('from the native server to the page and back, every kind, with owners, clock, settings and files', async () => {
  const note = 'of a person';
  const data = join(folder, 'data');
  mkdirSync(join(data, 'workspace'), { recursive: true });
  writeFileSync(join(data, 'workspace', 'note.txt'), note);
  const controllers = ['*', '-cronjob-controller'];
  const settings = ['--nodes', '3', '--controllers', controllers.join(',')];
  const first = await serve('--data-dir', data, ...settings);
  const kubectl = (line: string, input = '') =>
    run('kubectl', ['--kubeconfig', first.kubeconfig, ...line.split(' ')], input);
  await kubectl('apply -f -', HARBOUR);
  // kubectl wait takes no conditions at all for an error.
  await expect.poll(() => kubectl('get boats').then(() => 'served', String)).toBe('served');
  await kubectl('apply -f -', BOAT);
  await kubectl('wait deployment/web --for condition=Available --timeout 120s');
  await kubectl('create --raw /kubetab/clock/step -f -', '{"seconds": 7200}');
  await kubectl('replace --raw /kubetab/clock -f -', '{"paused": true}');

  const file = join(folder, 'harbour.kubetab');
  const [before] = await still(
    () => everything(first.read),
    () => saveNative(first, file, 'Harbour'),
  );
  expect(Object.keys(before)).toContain('/apis/sea.example/v1/boats default/ada');
  await ahead(first.read);
  await choose(file);
  await arrives(page, 'harbour');
  expect(await everything(inPage)).toEqual(before);
  await ahead(direct);
  expect(await shell('cat note.txt')).toBe(note);

  const back = await save('harbour-back.kubetab');
  const second = await serve('--from', back);
  expect(await everything(second.read)).toEqual(before);
  await ahead(second.read);
  const again = join(folder, 'harbour-again.kubetab');
  await saveNative(second, again, 'Harbour');
  for (const bundle of [file, back, again]) {
    const bytes = readFileSync(bundle);
    expect(await settingsOfBundle(new Uint8Array(bytes))).toEqual({ nodes: 3, controllers });
    expect(bodyOf(bytes).includes(note)).toBe(true);
  }
});

/** The clock stands still, two hours ahead of the real one, less what the test has taken. */
async function ahead(read: Read): Promise<void> {
  const { now, paused } = JSON.parse(await read('/kubetab/clock'));
  expect(paused).toBe(true);
  expect(Date.parse(now) - Date.now()).toBeGreaterThan(6_900_000);
}
