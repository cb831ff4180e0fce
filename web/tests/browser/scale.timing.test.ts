import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openPage, restarts } from './browser';
import { newBrowser } from './visitors';

// A thousand Pods of one Deployment, on nodes enough for them, while the page stays responsive.

const PODS = 1000;
const LIMIT = 120_000;
/** Milliseconds for which the page's own thread may be busy at a time. */
const LONGEST_TASK = 200;

const here = newBrowser();
let page: Page;

beforeAll(async () => {
  page = await openPage(await here.browser.newContext(), here.url);
  await restarts(page, () => page.evaluate(() => window.kubetab.restart({ nodes: 10 })));
});

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'many' },
  spec: {
    replicas: PODS,
    selector: { matchLabels: { app: 'many' } },
    template: {
      metadata: { labels: { app: 'many' } },
      spec: { containers: [{ name: 'web', image: 'nginx' }] },
    },
  },
};

test('a thousand Pods run within two minutes, and no task of the page takes long', async () => {
  const { took, longest } = await page.evaluate(
    async ([body, pods, limit]) => {
      let longest = 0;
      const observer = new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
      });
      observer.observe({ type: 'longtask' });
      const began = performance.now();
      const path = '/apis/apps/v1/namespaces/default/deployments';
      const made = await fetch(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      });
      if (made.status !== 201) throw new Error(await made.text());
      // What the Deployment says of itself, as it changes.
      const watch = await fetch(`${path}?watch=1&fieldSelector=metadata.name%3Dmany`, {
        signal: AbortSignal.timeout(limit),
      });
      const reader = watch.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (let running = 0; reader && running < pods; ) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`the watch ended with ${running} Pods available`);
        const lines = (text + value).split('\n');
        text = lines.pop() ?? '';
        const last = lines.at(-1);
        if (last) running = JSON.parse(last).object.status?.availableReplicas ?? 0;
      }
      const took = performance.now() - began;
      await reader?.cancel();
      for (const { duration } of observer.takeRecords()) longest = Math.max(longest, duration);
      return { took, longest };
    },
    [JSON.stringify(deployment), PODS, LIMIT] as const,
  );
  console.log(
    `${PODS} Pods run after ${(took / 1000).toFixed(1)} s; the page's longest task took ${longest} ms`,
  );
  expect(took).toBeLessThan(LIMIT);
  expect(longest).toBeLessThan(LONGEST_TASK);
});
