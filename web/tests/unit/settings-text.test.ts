import { expect, test } from 'vitest';
import type { Offer } from '../../src/answers/wasm';
import { read, same, spell, without } from '../../src/page/control/settings/settings-text';
import type { EngineSettings } from '../../src/protocol';

const offer: Offer = {
  nodes: 2,
  mostNodes: 100,
  unserved: [],
  choices: {
    version: '1.37',
    versions: ['1.37', '1.36'],
    featureGates: [
      { name: 'AllAlpha', stage: 'ALPHA', default: false, locked: false },
      { name: 'Fresh', stage: 'ALPHA', default: false, locked: false },
      { name: 'Settled', stage: '', default: true, locked: true },
      { name: 'Usual', stage: 'BETA', default: true, locked: false },
    ],
    groupVersions: [
      { name: 'batch/v1', default: true },
      { name: 'storage.k8s.io/v1beta1', default: false },
    ],
    controllers: [{ name: 'job-controller', default: true }],
  },
};

test.each<[EngineSettings, string]>([
  [{}, ''],
  [{ emulatedVersion: '1.36' }, 'emulated-version=1.36'],
  [
    {
      featureGates: { B: false, A: true },
      runtimeConfig: { 'api/all': 'true', 'batch/v1': 'false' },
      nodes: 0,
      controllers: ['-job-controller', '*'],
      noScheduler: true,
    },
    'feature-gates=A=true,B=false&runtime-config=api/all=true,batch/v1=false&nodes=0&controllers=*,-job-controller&scheduler=off',
  ],
])('settings are spelled as flags, and read again', (settings, text) => {
  expect(spell(settings)).toBe(text);
  expect(same(read(new URLSearchParams(text)), settings)).toBe(true);
});

test('a gate or version without a value is on, as in a flag', () => {
  expect(read(new URLSearchParams('feature-gates=A&runtime-config=v1/pods'))).toEqual({
    featureGates: { A: true },
    runtimeConfig: { 'v1/pods': 'true' },
  });
});

test.each(['feature-gates=A=maybe', 'nodes=many', 'nodes=-1', 'scheduler=no'])(
  '%s is refused',
  (text) => {
    expect(() => read(new URLSearchParams(text))).toThrow(text.split('=')[0]);
  },
);

test('what is so by default is not said', () => {
  const said: EngineSettings = {
    emulatedVersion: '1.37',
    featureGates: { Usual: true, Fresh: false, Unknown: true },
    runtimeConfig: { 'batch/v1': 'true', 'batch/v9': 'true' },
    nodes: 2,
    controllers: ['*'],
    noScheduler: false,
  };
  expect(without(said, offer)).toEqual({
    featureGates: { Unknown: true },
    runtimeConfig: { 'batch/v9': 'true' },
  });
});

test('what a wider setting changes has to be said', () => {
  const said: EngineSettings = {
    featureGates: { AllAlpha: true, Fresh: false },
    runtimeConfig: { 'api/beta': 'true', 'storage.k8s.io/v1beta1': 'false', 'batch/v1': 'true' },
  };
  expect(without(said, offer)).toEqual({
    featureGates: { AllAlpha: true, Fresh: false },
    runtimeConfig: { 'api/beta': 'true', 'storage.k8s.io/v1beta1': 'false' },
  });
});
