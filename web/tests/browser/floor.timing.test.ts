import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { controlled, ready } from './browser';
import { newBrowser } from './visitors';

// What a request through the service worker takes, beside what Chromium takes for the same way with nothing at its end:
// a service worker that answers by itself, one that asks a SharedWorker, and a SharedWorker that stores what was sent first.

const FILES: Readonly<Record<string, readonly [type: string, text: string]>> = {
  '/': ['text/html', '<!doctype html><title>floor</title>'],
  '/sw.js': [
    'text/javascript',
    `let port;
    let asked = 0;
    const waiting = new Map();
    const headers = { 'content-type': 'application/json' };
    self.addEventListener('install', () => self.skipWaiting());
    self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
    self.addEventListener('message', (event) => {
      [port] = event.ports;
      port.onmessage = ({ data: { id, body } }) => {
        waiting.get(id)(new Response(body, { headers }));
        waiting.delete(id);
      };
    });
    self.addEventListener('fetch', (event) => {
      const { pathname } = new URL(event.request.url);
      if (pathname === '/alone') event.respondWith(new Response('{}', { headers }));
      if (pathname !== '/asks' && pathname !== '/stores') return;
      event.respondWith((async () => {
        const sent = event.request.method === 'GET' ? null : await event.request.arrayBuffer();
        return new Promise((answer) => {
          const id = asked++;
          waiting.set(id, answer);
          port.postMessage({ id, sent }, sent ? [sent] : []);
        });
      })());
    });`,
  ],
  '/worker.js': [
    'text/javascript',
    `const opening = indexedDB.open('floor', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('records');
    const store = (id, sent, stored) => {
      const transaction = opening.result.transaction('records', 'readwrite', { durability: 'relaxed' });
      transaction.objectStore('records').put(new Uint8Array(sent), id);
      transaction.oncomplete = stored;
      transaction.commit();
    };
    onconnect = ({ ports: [page] }) => {
      page.onmessage = ({ ports: [port] }) => {
        port.onmessage = ({ data: { id, sent } }) => {
          const answer = () => port.postMessage({ id, body: '{}' });
          if (sent) store(id, sent, answer);
          else answer();
        };
        page.postMessage('ready');
      };
    };`,
  ],
};

const here = newBrowser();

/** p50 of requests one after the other, in ms. */
function median(page: Page, path: string, bodies: readonly string[] | number): Promise<number> {
  return page.evaluate(
    async ([path, bodies]) => {
      const taken: number[] = [];
      const ask = async (body?: string) => {
        const headers = { 'content-type': 'application/json' };
        const began = performance.now();
        const answer = await fetch(path, body ? { method: 'POST', headers, body } : {});
        await answer.text();
        taken.push(performance.now() - began);
        if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
      };
      if (typeof bodies === 'number') for (let i = 0; i < bodies; i++) await ask();
      else for (const body of bodies) await ask(body);
      return taken.sort((a, b) => a - b)[taken.length >> 1] ?? Number.NaN;
    },
    [path, bodies] as const,
  );
}

/** The mean time that the API server itself says it took for ConfigMaps since it was asked last, in ms. */
function handlers(page: Page): () => Promise<Record<'GET' | 'POST', number>> {
  const before = new Map<string, number>();
  return async () => {
    const text = await page.evaluate(async () => (await fetch('/metrics')).text());
    const since = (name: string, verb: string) => {
      const of = new RegExp(
        `^apiserver_request_duration_seconds_${name}\\{[^}]*resource="configmaps"[^}]*verb="${verb}"[^}]*\\} (\\S+)$`,
        'gm',
      );
      const sum = [...text.matchAll(of)].reduce((all, [, value]) => all + Number(value), 0);
      const grown = sum - (before.get(name + verb) ?? 0);
      before.set(name + verb, sum);
      return grown;
    };
    const mean = (verb: string) => (1000 * since('sum', verb)) / since('count', verb);
    return { GET: mean('GET'), POST: mean('POST') };
  };
}

test('a request takes what Chromium takes for the way, and twice what the API server does', async () => {
  const server = createServer(({ url = '/' }, response) => {
    const [type, text] = FILES[url] ?? ['text/plain', ''];
    response.writeHead(FILES[url] ? 200 : 404, { 'content-type': type }).end(text);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const bare = await (await here.browser.newContext()).newPage();
    await bare.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await bare.evaluate(async () => {
      await navigator.serviceWorker.register('/sw.js');
      const { active } = await navigator.serviceWorker.ready;
      const { port1, port2 } = new MessageChannel();
      const { port } = new SharedWorker('/worker.js');
      await new Promise((done) => {
        port.onmessage = done;
        port.postMessage(null, [port1]);
      });
      active?.postMessage(null, [port2]);
    });
    await controlled(bare);
    const page = await (await here.browser.newContext()).newPage();
    await page.goto(here.url);
    await ready(page);
    await controlled(page);
    const collection = '/api/v1/namespaces/default/configmaps';
    const objects = (prefix: string) =>
      Array.from({ length: 200 }, (_, i) =>
        JSON.stringify({ metadata: { name: `${prefix}-${i}` }, data: { a: 'b' } }),
      );
    await median(page, collection, objects('warm'));
    await median(page, `${collection}/warm-1`, 200);
    for (const path of ['/alone', '/asks']) await median(bare, path, 200);
    await median(bare, '/stores', objects('warm'));
    const inside = handlers(page);
    await inside();
    const alone = await median(bare, '/alone', 400);
    const asks = await median(bare, '/asks', 400);
    const stores = await median(bare, '/stores', objects('made'));
    const got = await median(page, `${collection}/warm-1`, 400);
    const created = await median(page, collection, objects('made'));
    const { GET, POST } = await inside();
    const ms = (value: number) => `${value.toFixed(1)} ms`;
    console.log(
      `nothing: alone ${ms(alone)}, with a SharedWorker ${ms(asks)}, stored ${ms(stores)}; ` +
        `get ${ms(got)}, of these ${ms(GET)} in the handlers; create ${ms(created)}, ${ms(POST)}`,
    );
    expect(got).toBeLessThan(asks + 2 * GET + 2);
    expect(created).toBeLessThan(stores + 2 * POST + 2);
  } finally {
    server.close();
  }
});
