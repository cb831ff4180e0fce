import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { inFlight, openPage, settlesTo } from './browser';
import { newBrowser } from './visitors';

// The same uses of the API, once by plain fetch through the service worker and once straight to the engine.

const here = newBrowser();
const MAPS = '/api/v1/namespaces/default/configmaps';
const WATCH = '/api/v1/namespaces?watch=1';
let page: Page;

beforeAll(async () => {
  page = await openPage(await here.browser.newContext(), here.url);
});

describe.each(['service-worker', 'engine-port'] as const)('through the %s', (transport) => {
  beforeAll(async () => {
    await page.evaluate(
      ([which, maps]) => {
        const request = (path: string, init?: RequestInit) => {
          if (which === 'service-worker') return fetch(path, init);
          const { direct } = window.kubetab;
          if (!direct) throw new Error('There is no connection to the engine.');
          return direct.request(path, init as Parameters<typeof direct.request>[1]);
        };
        Object.assign(window, {
          request,
          maps,
          create: (name: string, data: Record<string, string> = {}) =>
            request(maps, {
              method: 'POST',
              headers: { 'Content-Type': 'application/json' },
              body: JSON.stringify({
                apiVersion: 'v1',
                kind: 'ConfigMap',
                metadata: { name },
                data,
              }),
            }),
        });
      },
      [transport, MAPS] as const,
    );
  });

  test('a list is answered by the API server', async () => {
    const [status, type, kind] = await page.evaluate(async () => {
      const response = await window.request('/api/v1/namespaces');
      const body = (await response.json()) as { kind: string };
      return [response.status, response.headers.get('content-type'), body.kind];
    });
    expect([status, type, kind]).toEqual([200, 'application/json', 'NamespaceList']);
  });

  test('an error is a Status, with its HTTP status', async () => {
    const answer = await page.evaluate(async () => {
      const response = await window.request('/api/v1/namespaces/nowhere');
      return { code: response.status, text: response.statusText, body: await response.json() };
    });
    expect(answer).toMatchObject({
      code: 404,
      text: 'Not Found',
      body: { kind: 'Status', reason: 'NotFound' },
    });
  });

  test('a watch gives its event before the next one exists, and stopping it ends it in the engine', async () => {
    const seen = await page.evaluate(async () => {
      const controller = new AbortController();
      const response = await window.request(`${window.maps}?watch=1`, {
        signal: controller.signal,
      });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      const names: string[] = [];
      let text = '';
      const next = async (name: string) => {
        while (!text.includes(`"name":"${name}"`)) text += (await reader?.read())?.value ?? '';
        names.push(name);
      };
      await window.create('first');
      await next('first');
      await window.create('second');
      await next('second');
      window.stopWatch = () => controller.abort();
      for (const name of names)
        await window.request(`${window.maps}/${name}`, { method: 'DELETE' });
      return names;
    });
    expect(seen).toEqual(['first', 'second']);
    expect(await inFlight(page, `${MAPS}?watch=1`)).toBe(1);
    await page.evaluate(() => window.stopWatch());
    await settlesTo(page, `${MAPS}?watch=1`, 0);
  });

  test('cancelling the body ends the request as well', async () => {
    const watch = await page.evaluateHandle((path) => window.request(path), WATCH);
    expect(await inFlight(page, WATCH)).toBe(1);
    await watch.evaluate((response) => response.body?.cancel());
    await settlesTo(page, WATCH, 0);
  });

  test('aborting fails the body with an AbortError', async () => {
    const name = await page.evaluate(async () => {
      const controller = new AbortController();
      const response = await window.request('/api/v1/pods?watch=1', { signal: controller.signal });
      const reading = response.body
        ?.getReader()
        .read()
        .catch((error: DOMException) => error.name);
      controller.abort();
      return reading;
    });
    expect(name).toBe('AbortError');
  });

  test('bodies of megabytes go up and come back unchanged', async () => {
    const [created, same] = await page.evaluate(async () => {
      // A ConfigMap holds 1 MiB at most; five of them make a list of 5 MB.
      const texts = [1, 2, 3, 4, 5].map((n) => `${n}`.repeat(1_000_000));
      const created: number[] = [];
      for (const [i, text] of texts.entries()) {
        const made = await window.create(`large-${i}`, { text });
        created.push(made.status);
        await made.text(); // one that is not read stays in flight
      }
      const list = await window.request(window.maps);
      const { items } = (await list.json()) as {
        items: { metadata: { name: string }; data?: { text: string } }[];
      };
      const same = texts.every(
        (text, i) =>
          items.find(({ metadata }) => metadata.name === `large-${i}`)?.data?.text === text,
      );
      for (const i of texts.keys()) {
        await window.request(`${window.maps}/large-${i}`, { method: 'DELETE' });
      }
      return [created, same];
    });
    expect([created, same]).toEqual([[201, 201, 201, 201, 201], true]);
  });

  test('a body that is too large gets the Status of the server', async () => {
    const answer = await page.evaluate(async () => {
      const response = await window.create('too-large', { text: 'x'.repeat(5_000_000) });
      return [response.status, ((await response.json()) as { reason: string }).reason];
    });
    expect(answer).toEqual([413, 'RequestEntityTooLarge']);
  });

  test('a slow reader holds the engine back, and gets everything', async () => {
    // Much longer than the window.
    const length = await page.evaluate(async () => {
      for (let i = 0; i < 5; i++) {
        await (await window.create(`long-${i}`, { text: 'x'.repeat(1_000_000) })).text();
      }
      window.unread = await window.request(window.maps);
      return (await (await window.request(window.maps)).arrayBuffer()).byteLength;
    });
    expect(length).toBeGreaterThan(5_000_000);
    // The engine has sent the second answer whole, and the first not: nobody takes it. Of what passes a service worker, Chromium
    // itself takes all, and gives it to the reader.
    if (transport === 'engine-port') await settlesTo(page, MAPS, 1);
    const read = await page.evaluate(async () => {
      const { byteLength } = await window.unread.arrayBuffer();
      for (let i = 0; i < 5; i++) {
        await window.request(`${window.maps}/long-${i}`, { method: 'DELETE' });
      }
      return byteLength;
    });
    expect(read).toBe(length);
    await settlesTo(page, MAPS, 0);
  });

  test('a watch that nobody reads does not stop other requests', async () => {
    const statuses = await page.evaluate(async () => {
      const controller = new AbortController();
      const unread = await window.request(`${window.maps}?watch=1`, { signal: controller.signal });
      const statuses: number[] = [];
      for (let i = 0; i < 3; i++) {
        const made = await window.create(`quiet-${i}`, { text: 'x'.repeat(500_000) });
        await made.text();
        statuses.push(made.status);
        await window.request(`${window.maps}/quiet-${i}`, { method: 'DELETE' });
      }
      controller.abort();
      return [unread.status, ...statuses];
    });
    expect(statuses).toEqual([200, 201, 201, 201]);
    await settlesTo(page, `${MAPS}?watch=1`, 0);
  });

  test('HEAD and unusual paths are passed on as they are', async () => {
    const answers = await page.evaluate(async () => {
      const head = await window.request('/api/v1/namespaces/default', { method: 'HEAD' });
      const odd = await window.request('/apis/%2F..%2f?x=%00&watch=%');
      return [head.status, await head.text(), odd.status];
    });
    expect(answers).toEqual([405, '', 404]);
  });

  test('many requests at once are all answered', async () => {
    const kinds = await page.evaluate(async () => {
      const all = Array.from({ length: 60 }, (_, i) =>
        window
          .request(i % 2 ? '/api/v1/namespaces/default' : '/api/v1/namespaces/kube-system')
          .then((response) => response.json() as Promise<{ metadata: { name: string } }>),
      );
      return (await Promise.all(all)).map(({ metadata }) => metadata.name);
    });
    expect(kinds).toEqual(
      Array.from({ length: 60 }, (_, i) => (i % 2 ? 'default' : 'kube-system')),
    );
  });
});

declare global {
  interface Window {
    stopWatch(): void;
    /** Set by the tests above. */
    request(path: string, init?: RequestInit): Promise<Response>;
    create(name: string, data?: Record<string, string>): Promise<Response>;
    readonly maps: string;
    /** The response of the test with the slow reader. */
    unread: Response;
  }
}
