import { describe, expect, test } from 'vitest';
import type { PaletteCommand } from '../../src/page/frame/palette-commands';
import { rank, spansOf } from '../../src/page/frame/ranking';

const line = (label: string, group: string, place = '', keywords = '', weight = 0) => ({
  id: `${group} ${place}/${label}`,
  label,
  group,
  place,
  keywords,
  weight,
  run: () => undefined,
});

const LINES: readonly PaletteCommand[] = [
  line('Cluster', 'View', '', '', 7),
  line('Pod', 'Kinds', '', 'pods po', 8),
  line('Deployment', 'Kinds', 'apps', 'deployments deploy', 8),
  line('PodDisruptionBudget', 'Kinds', 'policy', 'poddisruptionbudgets pdb', 8),
  line('web', 'Deployment', 'default', 'deployments deploy', 5),
  line('web', 'Service', 'shop', 'services svc', 4),
  line('web-557577df75-2przg', 'Pod', 'default', 'pods po', 3),
  line('web-557577df75', 'ReplicaSet', 'default', 'replicasets rs', 1),
  line('my-web', 'ConfigMap', 'default', 'configmaps cm', 2),
  line('cobweb', 'ConfigMap', 'default', 'configmaps cm', 2),
  line('coredns', 'ConfigMap', 'kube-system', 'configmaps cm', -2),
  line('deployment-controller', 'ServiceAccount', 'kube-system', 'serviceaccounts sa', -4),
  line('deployment.yaml', 'Files', '', '', 6),
];

const found = (typed: string) =>
  rank(LINES, typed, 60).best.map(({ label, group }) => `${group} ${label}`);

describe('what is meant by a few letters', () => {
  test('the whole name, then its beginning, then the beginning of a word, then anywhere', () => {
    expect(found('web')).toEqual([
      'Deployment web',
      'Service web',
      'Pod web-557577df75-2przg',
      'ReplicaSet web-557577df75',
      'ConfigMap my-web',
      'ConfigMap cobweb',
    ]);
  });

  test('a kind before the objects that are called like it', () => {
    expect(found('dep')[0]).toBe('Kinds Deployment');
    expect(found('pod')[0]).toBe('Kinds Pod');
  });

  test('a hump is a beginning, and so is a short name', () => {
    expect(found('budget')[0]).toBe('Kinds PodDisruptionBudget');
    expect(found('pdb')[0]).toBe('Kinds PodDisruptionBudget');
  });

  test('kind and namespace narrow a name down, in any order, with a slash or a space', () => {
    expect(found('svc web')).toEqual(['Service web']);
    expect(found('web shop')).toEqual(['Service web']);
    expect(found('deploy/web')[0]).toBe('Deployment web');
    expect(found('kube-system/core')).toEqual(['ConfigMap coredns']);
  });

  test('letters between which others stand', () => {
    expect(found('cdns')).toEqual(['ConfigMap coredns']);
    expect(found('w2p')).toEqual(['Pod web-557577df75-2przg']);
  });

  test('nothing when a word is nowhere', () => {
    expect(found('web nowhere')).toEqual([]);
    expect(rank(LINES, '  ', 60).count).toBe(LINES.length);
  });

  test('says how many there are beyond those it gives', () => {
    const { best, count } = rank(LINES, 'web', 2);
    expect([best.length, count]).toEqual([2, 6]);
  });
});

test('what was typed is marked where it was found', () => {
  expect(spansOf('my-web', 'web')).toEqual([[3, 6]]);
  expect(spansOf('cobweb-web', 'web')).toEqual([[7, 10]]);
  expect(spansOf('web', 'svc web')).toEqual([[0, 3]]);
  expect(spansOf('coredns', 'cdns')).toEqual([
    [0, 1],
    [4, 7],
  ]);
  expect(spansOf('Pod', 'nothing')).toEqual([]);
});

test('five thousand names are ranked while somebody types', () => {
  const many = Array.from({ length: 5000 }, (_, i) =>
    line(`worker-${i % 97}-${(i * 2654435761) % 99991}`, 'Pod', `team-${i % 20}`, 'pods po'),
  );
  // Machines differ, and may be busy: in the same run, a copy of the list as JSON takes 4 ms on one where each ranking takes
  // less than that. A frame has 16.
  const time = (work: () => unknown) => {
    const began = performance.now();
    work();
    return performance.now() - began;
  };
  for (const typed of ['w', 'wo', 'worker-5', 'team-3 wor', 'wrk9']) {
    const rounds = Array.from({ length: 8 }, () => ({
      copy: time(() => JSON.parse(JSON.stringify(many))),
      rank: time(() => rank(many, typed, 60)),
    }));
    const best = (of: 'copy' | 'rank') => Math.min(...rounds.map((round) => round[of]));
    expect(best('rank') / best('copy'), typed).toBeLessThan(3);
  }
});
