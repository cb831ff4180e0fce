import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const page = resolve(import.meta.dirname, '../../src/page');
const engine = resolve(import.meta.dirname, '../../src/engine');
const MOST_FILES = 20;

/** Every file of a folder and of the folders in it, by its path in the folder. */
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));

const files = filesIn(page);

interface Arrow {
  readonly file: string;
  /** The folders of both ends: "lessons/pane". */
  readonly from: string;
  readonly to: string;
}

/** What the files import of one another, also when it is asked for later or is a type alone. */
const arrows = files
  .filter((file) => /\.tsx?$/.test(file))
  .flatMap((file): Arrow[] => {
    const text = readFileSync(join(page, file), 'utf8');
    const from = dirname(file);
    return [...text.matchAll(/\b(?:from |import |import\()'(\.[^']+)'/g)]
      .map(([, path = '']) => ({ file, from, to: dirname(join(from, path)) }))
      .filter(({ to }) => to !== from && !to.startsWith('..'));
  });

const viewOf = (folder: string) => folder.split('/')[0];

test.each([
  ['page', files],
  ['engine worker', filesIn(engine)],
])(`a folder of the %s has at most ${MOST_FILES} files`, (_, all) => {
  const sizes = new Map<string, number>();
  for (const file of all) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
  expect(sizes.size).toBeGreaterThan(1);
  expect([...sizes].filter(([, size]) => size > MOST_FILES)).toEqual([]);
});

test("the journal's folder imports nothing of the rest of the engine worker", () => {
  const above = filesIn(join(engine, 'journal')).flatMap((file) => {
    const text = readFileSync(join(engine, 'journal', file), 'utf8');
    return [...text.matchAll(/\b(?:from |import |import\()'(\.\.\/[^'./][^']*)'/g)].map(
      ([, path]) => `${file} imports ${path}`,
    );
  });
  expect(above).toEqual([]);
});

test('the top of a folder imports nothing of the folders in it', () => {
  expect(arrows.length).toBeGreaterThan(500);
  expect(arrows.filter(({ from, to }) => from !== '.' && to.startsWith(`${from}/`))).toEqual([]);
});

test('the folders of a view import one another in one direction', () => {
  const uses = new Map<string, Set<string>>();
  for (const { from, to } of arrows) {
    if (from === '.' || viewOf(from) !== viewOf(to)) continue;
    uses.set(from, (uses.get(from) ?? new Set()).add(to));
  }
  expect(uses.get('lessons/pane')).toContain('lessons/course');
  /** What can be reached from a folder. */
  const reached = (folder: string, seen = new Set<string>()): Set<string> => {
    for (const next of uses.get(folder) ?? []) {
      if (!seen.has(next)) reached(next, seen.add(next));
    }
    return seen;
  };
  expect([...uses.keys()].filter((folder) => reached(folder).has(folder))).toEqual([]);
});
