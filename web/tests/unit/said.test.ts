import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { chinese } from '../../src/page/engine/words.zh';

// What the engine says of itself is English in its sources: each of these sentences has its Chinese in words.zh.ts.

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const all = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, found]) => found);

function sources(folder: string, end: string): string {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(end) && !name.endsWith('_test.go'))
    .map((name) => read(join(folder, name)))
    .join('\n');
}

const said = {
  'notes of controllers': all(read('core/controllers/table.go'), /\bnote: "([^"]+)"/g),
  'the log of requests': [
    ...all(sources('core/requestlog', '.go'), /"([A-Z][^"]* [^"]*(?:\.|: ))"/g),
    ...all(sources('core/requestlog', '.go'), /broken :?= "([^"]+)"/g),
  ],
  'the workers': [
    ...all(sources('web/src/engine', '.ts'), /return '(It [^']+\.)'/g),
    ...all(sources('web/src/engine', '.ts'), /DownloadError\(\s*['`]([^'`]+)['`]/g),
    ...all(sources('web/src/client', '.ts'), /(?:abandon|onBroken)\('([^']+)'/g),
    ...all(sources('web/src/engine', '.ts'), /`(The Go program [^`]+)`/g),
    ...all(sources('web/src/client', '.ts'), /`(The engine worker [^`]+)`/g),
  ],
};

test.each(Object.entries(said))('what %s say is said in Chinese', (_, sentences) => {
  expect(sentences.length).toBeGreaterThan(3);
  const foreign = sentences
    // With what is put in: a number of a format, an expression of a template.
    .map((text) => (text ?? '').replaceAll('%d', '7').replace(/\$\{[^}]*\}/g, '7'))
    .filter((text) => !/\p{Script=Han}/u.test(chinese.said(text)));
  expect(foreign).toEqual([]);
});
