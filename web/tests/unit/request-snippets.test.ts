import { describe, expect, test } from 'vitest';
import { asClientGo, asKubectl, telling } from '../../src/page/requests/snippets';

const request = (method: string, path: string, body = '', contentType = '') => ({
  method,
  path,
  body,
  contentType,
  headers: [] as [string, string][],
});

describe('as kubectl', () => {
  test.each([
    [
      request('GET', '/api/v1/pods?limit=5&watch=1'),
      "kubectl get --raw '/api/v1/pods?limit=5&watch=1'",
    ],
    [request('DELETE', '/api/v1/namespaces/x'), 'kubectl delete --raw /api/v1/namespaces/x'],
    [
      request(
        'PATCH',
        '/apis/apps/v1/namespaces/d/deployments/web/scale',
        '{"a":1}',
        'application/merge-patch+json',
      ),
      `kubectl patch deployments.v1.apps web -n d --subresource=scale --type=merge -p '{"a":1}'`,
    ],
    [
      request(
        'PATCH',
        '/api/v1/namespaces/d/configmaps/c?fieldManager=me&force=true',
        'kind: ConfigMap\n',
        'application/apply-patch+yaml',
      ),
      "kubectl apply --server-side --field-manager=me --force-conflicts -n d -f - <<'EOF'\nkind: ConfigMap\nEOF",
    ],
    [
      request('POST', '/api/v1/namespaces', "it's", 'application/json'),
      "kubectl create --raw /api/v1/namespaces -f - <<'EOF'\nit's\nEOF",
    ],
  ])('%o', (from, to) => {
    expect(asKubectl(from)).toBe(to);
  });

  test('impersonation is said with --as', () => {
    const headers: [string, string][] = [
      ['Impersonate-User', "o'brien"],
      ['Impersonate-Group', 'crew'],
    ];
    expect(asKubectl({ ...request('GET', '/api'), headers })).toBe(
      "kubectl get --raw /api --as='o'\\''brien' --as-group=crew",
    );
  });
});

describe('as client-go', () => {
  test.each([
    [
      request('GET', '/apis/apps/v1/namespaces/d/deployments?labelSelector=a%3Db&limit=5'),
      'dynamicClient.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace("d").List(ctx, metav1.ListOptions{LabelSelector: "a=b", Limit: 5})',
    ],
    [
      request('GET', '/api/v1/nodes/n1'),
      'dynamicClient.Resource(schema.GroupVersionResource{Group: "", Version: "v1", Resource: "nodes"}).Get(ctx, "n1", metav1.GetOptions{})',
    ],
    [
      request('DELETE', '/api/v1/namespaces/d/pods/p?dryRun=All'),
      'dynamicClient.Resource(schema.GroupVersionResource{Group: "", Version: "v1", Resource: "pods"}).Namespace("d").Delete(ctx, "p", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})',
    ],
    [
      request('GET', '/version?x=1'),
      'clientset.RESTClient().Get().\n\tAbsPath("/version").\n\tParam("x", "1").\n\tDoRaw(ctx)',
    ],
  ])('%o', (from, to) => {
    expect(asClientGo(from)).toBe(to);
  });
});

test('headers that say how a request travelled are left out', () => {
  expect(
    telling([
      ['Accept', 'application/json'],
      ['Accept', '*/*'],
      ['User-Agent', 'x'],
      ['Sec-Fetch-Mode', 'cors'],
      ['Impersonate-User', 'viewer'],
      ['Kubetab-Client', 'view'],
      ['Kubetab-Waited', '4100'],
      ['Authorization', 'Bearer (not kept)'],
    ]),
  ).toEqual([
    ['Accept', 'application/json'],
    ['Impersonate-User', 'viewer'],
  ]);
});
