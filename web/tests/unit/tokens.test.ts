import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const css = readFileSync(resolve(import.meta.dirname, '../../src/page/style/tokens.css'), 'utf8');

test('a token is declared once, with the colours of both themes', () => {
  const names = [...css.matchAll(/^\s*(--[\w-]+):/gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(40);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
});

test('a chosen theme chooses colours by color-scheme alone', () => {
  const chosen = [...css.matchAll(/^:root\[data-theme="(\w+)"\] \{([^}]*)\}/gm)];
  expect(chosen.map(([, theme, body]) => [theme, body?.trim()])).toEqual([
    ['light', 'color-scheme: light;'],
    ['dark', 'color-scheme: dark;'],
  ]);
});
