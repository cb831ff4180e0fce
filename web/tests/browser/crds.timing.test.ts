import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openPage } from './browser';
import { newBrowser } from './visitors';

// Fifty CRDs with as much schema as popular operators have.

const CRDS = 50;
/** Milliseconds until all of them are served, and until OpenAPI v2 has them, too. */
const LIMIT = { served: 45_000, openapi: 60_000 };
const MOST_HEAP = 500_000_000;

const here = newBrowser();
let page: Page;

beforeAll(async () => {
  page = await openPage(await here.browser.newContext(), here.url);
});

test('fifty CRDs of operators are served, and described', async () => {
  const found = await page.evaluate(async (crds) => {
    const words = 'What the field means, which values it may have, and what happens without it. ';
    const field = { type: 'string', description: words.repeat(3) };
    const fields = (depth: number): object => {
      const part = depth === 0 ? field : fields(depth - 1);
      const properties = Object.fromEntries(
        Array.from({ length: 7 }, (_, i) => [`field${i}`, part]),
      );
      return { type: 'object', description: words, properties };
    };
    const schema = { type: 'object', properties: { spec: fields(2) } };
    const group = (i: number) => `operator${i % 10}.example.com`;
    const crd = (i: number) => ({
      metadata: { name: `things${i}.${group(i)}` },
      spec: {
        group: group(i),
        scope: 'Namespaced',
        names: { plural: `things${i}`, kind: `Thing${i}` },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } },
        ],
      },
    });
    const began = performance.now();
    const since = () => performance.now() - began;
    for (let i = 0; i < crds; i++) {
      const made = await fetch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(crd(i)),
      });
      if (made.status !== 201) throw new Error(await made.text());
    }
    const created = since();
    for (let i = 0; i < crds; i++) {
      while (!(await fetch(`/apis/${group(i)}/v1/things${i}`)).ok);
    }
    const served = since();
    const described = await (await fetch('/openapi/v2')).text();
    const openapi = since();
    const { heapBytes = 0 } = (await window.kubetab.stats?.()) ?? {};
    const isThere = described.includes(`Thing${crds - 1}`);
    return { bytes: JSON.stringify(crd(0)).length, created, served, openapi, heapBytes, isThere };
  }, CRDS);
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  console.log(
    `${CRDS} CRDs of ${found.bytes} bytes: created after ${seconds(found.created)}, served after ${seconds(found.served)}, ` +
      `in OpenAPI v2 after ${seconds(found.openapi)}; heap ${Math.round(found.heapBytes / 1e6)} MB`,
  );
  expect(found.bytes).toBeGreaterThan(80_000);
  expect(found.isThere).toBe(true);
  expect(found.served).toBeLessThan(LIMIT.served);
  expect(found.openapi).toBeLessThan(LIMIT.openapi);
  expect(found.heapBytes).toBeLessThan(MOST_HEAP);
});
