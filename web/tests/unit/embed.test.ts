import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { heredoc } from '../../src/embed/run';
import { linesOf } from '../../src/embed/source';
import { settingsOfBundle } from '../../src/engine/bundle-settings';
import { DEFAULTS, differing, isDefault } from '../../src/engine/settings';
import { packed } from '../bundle';

test.each([
  ['kubectl get pods\nkubectl get nodes', 'kubectl get pods\nkubectl get nodes'],
  ['$ kubectl get pods\nNAME   READY\nweb    1/1', 'kubectl get pods'],
  [
    '$ kubectl run web \\\n>   --image=nginx\npod/web created',
    'kubectl run web \\\n  --image=nginx',
  ],
  ['echo "$ 5"', 'echo "$ 5"'],
])('the lines to run of %j', (text, lines) => {
  expect(linesOf(text)).toBe(lines);
});

test('a text that holds the end of a here document is given whole', () => {
  expect(heredoc('a\nEOF\nb')).toBe("<<'EOF_'\na\nEOF\nb\nEOF_\n");
  expect(heredoc('a\n')).toBe("<<'EOF'\na\nEOF\n");
});

function bundle(body: Buffer): Uint8Array<ArrayBuffer> {
  const envelope = { format: 'kubetab.bundle', version: 1, codec: 'gzip', body };
  return new Uint8Array(packed(envelope));
}

test('the settings of a bundle are read without the rest', async () => {
  const settings = {
    emulatedVersion: '1.36',
    nodes: 300,
    noScheduler: true,
    controllers: ['-job'],
  };
  const cluster = { kubernetes: 'v1.37.2+kubetab', revision: 7, settings, records: [] };
  expect(await settingsOfBundle(bundle(gzipSync(packed(cluster))))).toEqual(settings);
});

test('what a bundle says of its settings that is so anyway is left out', async () => {
  const settings = { ...DEFAULTS, controllers: ['*', '-job'] };
  const cluster = { kubernetes: 'v1.37.2+kubetab', revision: 7, settings, records: [] };
  expect(await settingsOfBundle(bundle(gzipSync(packed(cluster))))).toEqual({
    controllers: ['*', '-job'],
  });
  expect(differing({ controllers: ['*'] })).toEqual({});
  expect([isDefault(DEFAULTS), isDefault({ nodes: 3 }), isDefault({})]).toEqual([
    true,
    false,
    true,
  ]);
});

test('what a bundle does not say of its settings is as in a new cluster', async () => {
  for (const said of [{}, { settings: {} }]) {
    const cluster = { kubernetes: 'v1.37.2+kubetab', revision: 7, ...said };
    expect(await settingsOfBundle(bundle(gzipSync(packed(cluster))))).toEqual({});
  }
});

test('those of a bundle that Go has written', async () => {
  const path = resolve(import.meta.dirname, '../../../core/bundle/testdata/version1.kubetab');
  const settings = await settingsOfBundle(new Uint8Array(readFileSync(path)));
  expect(settings.nodes).toBeGreaterThan(0);
  expect(settings.controllers).toBeInstanceOf(Array);
});

test.each([
  ['nothing', new Uint8Array()],
  ['a torn one', bundle(gzipSync(packed({ settings: {} })).subarray(0, 12))],
  ['no bundle at all', new Uint8Array([0xc1, 1, 2])],
  ['maps without end', new Uint8Array(4096).fill(0x81)],
])('of %s, the engine says what is wrong', async (_, bytes) => {
  expect(await settingsOfBundle(bytes)).toEqual({});
});
