import { describe, expect, test } from 'vitest';
import type { Node, Pod, Service, Workload } from '../../src/page/cluster/object';
import { place } from '../../src/page/picture/layout';
import { pictureOf } from '../../src/page/picture/model';

const owner = (kind: string, uid: string) => ({
  apiVersion: 'apps/v1',
  kind,
  name: uid,
  uid,
  controller: true,
});
const pod = (uid: string, by: string, node = 'n1', labels: Record<string, string> = {}): Pod => ({
  metadata: {
    name: uid,
    namespace: 'default',
    uid,
    labels,
    ...(by && { ownerReferences: [owner('ReplicaSet', by)] }),
  },
  spec: { ...(node && { nodeName: node }), containers: [{ name: 'main' }] },
  status: { phase: node ? 'Running' : 'Pending', conditions: [{ type: 'Ready', status: 'True' }] },
});
const node = (name: string): Node => ({
  metadata: { name, uid: name },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});
const deployment: Workload = {
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default', uid: 'd' },
  spec: { replicas: 2 },
};
const replicaSet = (uid: string, replicas: number): Workload => ({
  kind: 'ReplicaSet',
  metadata: { name: uid, namespace: 'default', uid, ownerReferences: [owner('Deployment', 'd')] },
  spec: { replicas },
});
const service: Service = {
  metadata: { name: 'web', namespace: 'default', uid: 's' },
  spec: { selector: { app: 'web' } },
};

const picture = pictureOf({
  nodes: [node('n10'), node('n2'), node('n1')],
  pods: [
    pod('a', 'r1', 'n1', { app: 'web' }),
    pod('b', 'r2', 'n2', { app: 'web' }),
    pod('c', 'r2', ''),
    pod('bare', '', 'gone'),
  ],
  services: [service],
  workloads: [deployment, replicaSet('r1', 0), replicaSet('r2', 2), replicaSet('old', 0)],
});

describe('the picture', () => {
  test('draws a Deployment and not its ReplicaSets, with the Pods of all of them', () => {
    expect(picture.owners.map(({ name, wanted, pods }) => [name, wanted, pods])).toEqual([
      ['web', 2, ['a', 'b', 'c']],
    ]);
    expect(picture.owners[0]?.through).toEqual([
      { name: 'r1', pods: 1 },
      { name: 'r2', pods: 2 },
    ]);
  });

  test('keeps what is scaled to none, but not old ReplicaSets and finished Jobs', () => {
    const workload = (kind: string, of: Partial<Workload>): Workload => ({
      kind,
      metadata: { name: kind, namespace: 'default', uid: kind },
      ...of,
    });
    const { owners } = pictureOf({
      nodes: [],
      pods: [],
      services: [],
      workloads: [
        workload('Deployment', { spec: { replicas: 0 } }),
        workload('StatefulSet', { spec: { replicas: 0 } }),
        workload('DaemonSet', { status: { desiredNumberScheduled: 0 } }),
        workload('ReplicaSet', { spec: { replicas: 0 } }),
        workload('Job', { status: { conditions: [{ type: 'Complete', status: 'True' }] } }),
      ],
    });
    expect(owners.map(({ kind, wanted }) => [kind, wanted])).toEqual([
      ['DaemonSet', 0],
      ['Deployment', 0],
      ['StatefulSet', 0],
    ]);
  });

  test('has a lane for each node in the order people count, for Pods without one, and for a node that is gone', () => {
    expect(picture.lanes.map(({ name, pods }) => [name, pods.map(({ uid }) => uid)])).toEqual([
      ['', ['c']],
      ['n1', ['a']],
      ['n2', ['b']],
      ['n10', []],
      ['gone', ['bare']],
    ]);
  });

  test('joins a Service to the Pods that it selects', () => {
    expect(picture.services[0]?.pods).toEqual(['a', 'b']);
  });

  test('of an owner that owns itself ends', () => {
    const loop: Workload = {
      kind: 'Job',
      metadata: { name: 'l', uid: 'l', ownerReferences: [owner('Job', 'l')] },
    };
    const drawn = pictureOf({ nodes: [], pods: [pod('p', 'l')], services: [], workloads: [loop] });
    expect(drawn.podCount).toBe(1);
  });
});

describe.each([3, 16, 17, 60, 300, 1000])('%i Pods', (count) => {
  const many = pictureOf({
    nodes: [node('n1'), node('n2')],
    pods: Array.from({ length: count }, (_, i) => pod(`p${i}`, '', `n${1 + (i % 2)}`)),
    services: [],
    workloads: [],
  });

  test.each([280, 520, 1100])('in %i pixels stay apart and inside their lane', (width) => {
    const placed = place(many, width);
    const boxes = [...placed.pods.values()];
    expect(boxes).toHaveLength(count);
    many.lanes.forEach((lane, i) => {
      const around = placed.lanes[i];
      const seen = new Set<string>();
      for (const { uid } of lane.pods) {
        const box = placed.pods.get(uid);
        if (!box || !around) throw new Error(`${uid} has no place`);
        expect(box.x).toBeGreaterThanOrEqual(around.x);
        expect(box.x + box.width).toBeLessThanOrEqual(around.x + around.width);
        expect(box.y + box.height).toBeLessThanOrEqual(around.y + around.height);
        seen.add(`${box.x} ${box.y}`);
      }
      expect(seen.size).toBe(lane.pods.length);
    });
    expect(placed.height).toBeLessThan(count * 20 + 400);
  });
});
