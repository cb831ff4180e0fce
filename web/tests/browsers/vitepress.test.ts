import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { list } from '../../build/layout.mjs';
import { newReader } from '../browser/docs-site';

// A site that VitePress has made, docs/samples/vitepress, with its theme and the script that takes its pages over. One
// element of the site is Kubetab's.

const built = resolve(import.meta.dirname, '../../../build/samples/vitepress');
const reader = newReader();

/** The files of the site by path, with the address of Kubetab's site. */
async function siteFiles(): Promise<Record<string, string | Uint8Array>> {
  if (!existsSync(built)) throw new Error(`${built} is missing. Run \`make test-vitepress\`.`);
  const files: Record<string, string | Uint8Array> = {};
  for (const name of await list(built)) {
    const bytes = readFileSync(join(built, name));
    files[`/${name}`] = name.endsWith('.html')
      ? bytes.toString().replaceAll('https://kubetab.example/', reader.url)
      : bytes;
  }
  return files;
}

/** Runs a block, and returns what the page shows as its output. */
async function run(page: Page, index: number): Promise<string> {
  const snippet = page.locator('kubetab-snippet').nth(index);
  await snippet.getByRole('button', { name: /Run|Apply/ }).click();
  await snippet.and(page.locator('[state=succeded]')).waitFor();
  const places = snippet.locator('.output').or(page.locator('kubetab-output .output'));
  const shown = await places.filter({ visible: true }).all();
  return (await Promise.all(shown.map((each) => each.textContent()))).join('');
}

test('all blocks of a site run, on the page that was opened and on one that its script shows', async () => {
  const files = await siteFiles();
  const complaints: string[] = [];
  const page = await reader.openDocs(String(files['/index.html']), {}, files, async (empty) => {
    empty.on('console', (message) => {
      if (/hydration|mismatch/i.test(message.text())) complaints.push(message.text());
    });
  });
  const bars = page.locator('kubetab-snippet').getByRole('button', { name: /Run|Apply/ });
  await expect.poll(() => bars.count()).toBe(3);
  expect(await page.locator('.language-sh, .language-yaml').count()).toBe(3);
  const before = await page.evaluate(() => document.documentElement.scrollHeight);
  expect(await run(page, 0)).toBe('namespace/team-a created\n');
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBe(before);
  expect(await run(page, 1)).toContain('resourcequota/pods created\n');
  expect(await run(page, 2)).toContain('{"pods":"4"}\n');

  // The script of the site puts another page in the place of this one. The engine stays.
  await page.locator('.VPSidebar').getByText('Labels').click();
  await page.getByRole('heading', { name: 'Labels' }).waitFor();
  await expect.poll(() => bars.count()).toBe(1);
  expect(await run(page, 0)).toBe('namespace/team-a labeled\n');
  expect(complaints).toEqual([]);
});
