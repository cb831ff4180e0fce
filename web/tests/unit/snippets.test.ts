import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { asCurl, asFetch } from '../../src/page/console/snippets';

const draft = {
  method: 'PATCH',
  path: '/api/v1/namespaces/default?a=$(id)&b=`x`',
  headers: [
    { name: 'Content-Type', value: 'application/merge-patch+json' },
    { name: '', value: 'ignored' },
  ],
  body: `{"text":"it's $HOME \\\\ \\"quoted\\""}`,
};

test('a shell reads the curl command as it was meant, whatever is in it', () => {
  // The command line is run with a function in curl's place that prints what it was given.
  const script = `curl() { printf '%s\\n' "$@"; }\n${asCurl(draft)}`;
  const given = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n');
  expect(given).toEqual([
    '-X',
    'PATCH',
    `http://127.0.0.1:8001${draft.path}`,
    '-H',
    'Content-Type: application/merge-patch+json',
    '--data-binary',
    draft.body,
  ]);
});

test('the fetch call sends what the console sends', async () => {
  const calls: unknown[][] = [];
  const run = new Function('fetch', `return (async () => { ${asFetch(draft)} })()`) as (
    fetch: (...args: unknown[]) => void,
  ) => Promise<void>;
  await run((...args) => calls.push(args));
  expect(calls).toEqual([
    [
      draft.path.slice(1),
      {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/merge-patch+json' },
        body: draft.body,
      },
    ],
  ]);
});

test('a plain GET is short', () => {
  const plain = { method: 'GET', path: '/version', headers: [], body: '' };
  expect(asFetch(plain)).toBe('await fetch("version")');
  expect(asCurl(plain)).toContain("'http://127.0.0.1:8001/version'");
});
