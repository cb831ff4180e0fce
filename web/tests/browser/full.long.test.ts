import type { Browser, Page } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { launch, openPage, sharedWorkers } from './browser';
import { beginProbe, probeOf, summary } from './probe';
import { openSite, type Site } from './site';

// The engine's memory, filled up to its limit, a third of 3 GiB for what no cache has as well. wasm/host/memory.test.mjs does the same with a small limit.

/**
 * What fills it, without metadata. Of Events upstream has no watch cache, which holds each object a second time and keeps what
 * was deleted until others have taken its place.
 */
const KINDS = {
  events: { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, message: 'TEXT' },
  configmaps: { data: { text: 'TEXT' } },
};
const SIZE = 900_000;
const MOST = 2000; // more than there is room for

let browser: Browser;
let site: Site;
let page: Page;

beforeEach(async () => {
  [browser, site] = await Promise.all([launch(), openSite()]);
  page = await openPage(await browser.newContext(), site.url);
  await beginProbe(page);
});
afterEach(async () => {
  await browser?.close();
  await site?.close();
});

test.for(Object.entries(KINDS))(
  'an engine that is full of %s says so, loses nothing, starts anew, and goes on when there is room',
  { timeout: 3_600_000 },
  async ([kind, object]) => {
    const collection = `/api/v1/namespaces/default/${kind}`;
    const { acknowledged, refused } = await page.evaluate(
      async ([path, size, most, object]) => {
        const acknowledged: string[] = [];
        for (let i = 0; i < most; i++) {
          const name = `fill-${i}`;
          const response = await fetch(path, {
            method: 'POST',
            signal: AbortSignal.timeout(60_000),
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({
              metadata: { name, labels: { fills: 'memory' } },
              ...object,
            }).replace('TEXT', name.padEnd(size, 'x')),
          });
          if (response.status !== 201) return { acknowledged, refused: await response.json() };
          acknowledged.push(name);
          await response.arrayBuffer();
        }
        return { acknowledged, refused: null };
      },
      [collection, SIZE, MOST, object] as const,
    );
    console.log(
      `${acknowledged.length} ${kind} of ${SIZE} bytes; ${summary((await probeOf(page)).asked)}`,
    );
    expect(refused).toMatchObject({ kind: 'Status', code: 507, reason: 'InsufficientStorage' });
    expect(refused.message).toContain('Nothing was changed');
    const found = await page.evaluate(
      async ([path, names]) => {
        let there = 0;
        for (const name of names) if ((await fetch(`${path}/${name}`)).ok) there++;
        return there;
      },
      [collection, acknowledged] as const,
    );
    expect(found).toBe(acknowledged.length);

    // All of it is read again by another engine, which is as full.
    const context = page.context();
    const witness = await context.newPage();
    await page.close();
    await expect
      .poll(async () => (await sharedWorkers(witness)).targets.length, {
        timeout: 90_000,
        interval: 1000,
      })
      .toBe(0);
    page = await openPage(context, site.url);
    await beginProbe(page);
    const lost = await page.evaluate(
      async ([path, names, size]) => {
        const without: string[] = [];
        for (const name of names) {
          const answer = await fetch(`${path}/${name}`);
          if ((await answer.text()).length < size) without.push(name);
        }
        return without;
      },
      [collection, acknowledged, SIZE] as const,
    );
    expect(lost).toEqual([]);

    /** The status, and what the server says to it. */
    const ask = (method: string, path: string, body?: string) =>
      page.evaluate(
        async ([method, path, body]) => {
          const headers = { 'content-type': 'application/json' };
          const answer = await fetch(path, { method, headers, body: body ?? null });
          return `${answer.status} ${(await answer.text()).slice(0, 1000)}`;
        },
        [method, path, body] as const,
      );
    // Whoever asks for all of it gets it, as a file or as a list: nobody holds more than a piece.
    const read = (path: string) =>
      page.evaluate(async (path) => {
        const answer = await fetch(path);
        let bytes = 0;
        for (const reader = answer.body?.getReader(); ; ) {
          const read = await reader?.read();
          if (!read?.value) return { status: answer.status, bytes };
          bytes += read.value.length;
        }
      }, path);
    const saved = await read('/kubetab/bundle');
    expect(saved.status).toBe(200);
    expect(saved.bytes).toBeGreaterThan(100_000);
    const listed = await read(collection);
    expect(listed.status).toBe(200);
    expect(listed.bytes).toBeGreaterThan(acknowledged.length * SIZE);
    const deleted = await page.evaluate(async (path) => {
      const answer = await fetch(path, { method: 'DELETE' });
      await answer.body?.cancel();
      return answer.status;
    }, collection);
    expect(deleted).toBe(200);
    // What was deleted is in the history until it is compacted.
    const again = () =>
      ask(
        'POST',
        '/api/v1/namespaces/default/configmaps',
        '{"metadata":{"generateName":"again-"}}',
      );
    await expect.poll(again, { timeout: 300_000, interval: 1000 }).toMatch(/^201 /);
    expect((await probeOf(page)).failures).toEqual([]);
  },
);
