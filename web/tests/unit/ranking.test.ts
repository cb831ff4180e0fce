import { describe, expect, test, vi } from 'vitest';
import { rank, spansOf } from '../../src/page/frame/palette/ranking';
import type { PaletteCommand } from '../../src/page/frame/palette-commands';

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

test('five thousand names are ranked while somebody types: each is read once, whatever is typed', () => {
  let read = 0;
  const counted = (command: PaletteCommand): PaletteCommand =>
    Object.defineProperty({ ...command }, 'keywords', {
      get: () => {
        read++;
        return command.keywords;
      },
    });
  const many = Array.from({ length: 5000 }, (_, i) =>
    counted(
      line(`worker-${i % 97}-${(i * 2654435761) % 99991}`, 'Pod', `team-${i % 20}`, 'pods po'),
    ),
  );
  for (const typed of ['w', 'wo', 'worker-5', 'team-3 wor', 'wrk9']) {
    expect(rank(many, typed, 60).count, typed).toBeGreaterThan(0);
    expect(read, typed).toBe(many.length);
  }
});

test('names that fit are put in order with as many comparisons as sorting takes, without a collator', () => {
  const compared = vi.spyOn(String.prototype, 'localeCompare');
  const collated = vi.spyOn(Intl.Collator.prototype, 'compare', 'get');
  let sorted = 0;
  const sort = Array.prototype.sort;
  const sorts = vi.spyOn(Array.prototype, 'sort').mockImplementation(function (
    this: unknown[],
    by,
  ) {
    return sort.call(this, (a, b) => {
      sorted++;
      return by ? by(a, b) : 0;
    });
  });
  const many = Array.from({ length: 5000 }, (_, i) =>
    line(`worker-${(i * 2654435761) % 99991}`, 'Pod'),
  );
  try {
    expect(rank(many, 'wo', 60).count).toBe(many.length);
    expect(sorts).toHaveBeenCalledTimes(1);
    expect(sorted).toBeGreaterThan(0);
    expect(sorted).toBeLessThan(many.length * Math.ceil(Math.log2(many.length)));
    expect(compared).not.toHaveBeenCalled();
    expect(collated).not.toHaveBeenCalled();
  } finally {
    vi.restoreAllMocks();
  }
});
