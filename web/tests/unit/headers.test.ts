import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { headersFile, headersOf, metaPolicy, originsIn } from '../../headers/headers.mjs';

// The servers of the page are programs in Go and in JavaScript: headers_test.go has the same file.
const golden = readFileSync(
  resolve(import.meta.dirname, '../../headers/testdata/headers.txt'),
  'utf8',
);

test('a file has the headers that the servers in Go send', () => {
  const names = [...golden.matchAll(/^file: (.*)$/gm)].map(([, name = '']) => name);
  expect(names).toContain('index.html');
  const told = names.map((name) => {
    const lines = Object.entries(headersOf(name)).map(([key, value]) => `  ${key}: ${value}\n`);
    return `file: ${name}\n${lines.sort().join('')}`;
  });
  expect(told.join('')).toBe(golden);
});

test('as an element, the policy of a document has all but who may frame it', () => {
  const policy = headersOf('index.html')['Content-Security-Policy'] ?? '';
  expect(policy).toMatch(/; frame-ancestors 'none'$/);
  expect(metaPolicy('index.html')).toBe(
    `<meta http-equiv="Content-Security-Policy" content="${policy.replace(/; frame-ancestors.*/, '')}" />`,
  );
});

test('in the file _headers no path matches the file of another', () => {
  const names = ['index.html', 'sw.js', 'assets/index-Bx_3z-1a.js', 'assets/index-Bx_3z-1b.css'];
  const paths = headersFile(names).match(/^\/.*$/gm);
  expect(paths).toEqual(['/', '/assets/*', '/index.html', '/sw.js']);
  expect(headersFile(names)).toContain(`/sw.js\n  Content-Security-Policy: default-src 'none'`);
  expect(() => headersFile(['assets/a-Bx_3z-1a.js', 'assets/b.js'])).toThrow('assets/b.js');
});

test('a host lets the page, and nothing else, open files of other sites', () => {
  const origins = originsIn('https://a.example, http://127.0.0.1:8081');
  const allowed = "; connect-src 'self' https://a.example http://127.0.0.1:8081; ";
  const policy = headersOf('index.html', origins)['Content-Security-Policy'] ?? '';
  expect(policy.replace(allowed, "; connect-src 'self'; ")).toBe(
    headersOf('index.html')['Content-Security-Policy'],
  );
  expect(policy).toContain(allowed);
  expect(metaPolicy('index.html', origins)).toContain(allowed);
  expect(headersFile(['index.html', 'sw.js'], origins).split(allowed)).toHaveLength(3);
  for (const name of ['', 'sw.js', 'embed.html']) {
    expect(headersOf(name, origins)).toEqual(headersOf(name));
  }
  expect(originsIn(undefined)).toEqual(['https://raw.githubusercontent.com']);
  expect(originsIn('')).toEqual([]);
  for (const none of [
    '*',
    'a.example',
    'https://a.example/',
    "https://a.example;script-src'none'",
  ]) {
    expect(() => originsIn(none)).toThrow('is no origin');
  }
});
