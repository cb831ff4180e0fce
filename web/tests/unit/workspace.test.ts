import { beforeEach, expect, test, vi } from 'vitest';
import type { OpenFiles } from '../../src/page/files/workspace/workspace';

// Which files have a tab when the workspace is opened again.

beforeEach(() => vi.resetModules());

async function open(before: OpenFiles | null, paths = ['a.yaml', 'b.yaml', 'c.yaml']) {
  const workspace = await import('../../src/page/files/workspace/workspace');
  const storage = {
    load: async () => paths.map((path) => ({ path, text: '' })),
    save: async () => undefined,
    remove: async () => undefined,
  };
  const opening = workspace.openWorkspace(storage, [{ path: 'b.yaml', text: '' }], before);
  return {
    ...workspace,
    opening,
    tabs: () => [workspace.openPaths.value, workspace.activePath.value],
  };
}

test('a newcomer sees the first sample', async () => {
  const { opening, tabs } = await open(null);
  await opening;
  expect(tabs()).toEqual([['b.yaml'], 'b.yaml']);
});

test('what was open is open again, without what has gone', async () => {
  const { opening, tabs } = await open({ paths: ['c.yaml', 'gone', 'a.yaml'], active: 'a.yaml' });
  await opening;
  expect(tabs()).toEqual([['c.yaml', 'a.yaml'], 'a.yaml']);
});

test('where the file has gone that was shown, the first tab is', async () => {
  const { opening, tabs } = await open({ paths: ['gone', 'c.yaml', 'a.yaml'], active: 'gone' });
  await opening;
  expect(tabs()).toEqual([['c.yaml', 'a.yaml'], 'c.yaml']);
});

test('what was closed stays closed', async () => {
  const { opening, tabs } = await open({ paths: [], active: '' });
  await opening;
  expect(tabs()).toEqual([[], '']);
});

test('what is opened while files are read is shown', async () => {
  const { opening, openFile, tabs } = await open({ paths: ['c.yaml'], active: 'c.yaml' });
  openFile('a.yaml');
  await opening;
  expect(tabs()).toEqual([['c.yaml', 'a.yaml'], 'a.yaml']);
});
