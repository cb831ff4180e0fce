import { expect, test } from 'vitest';
import { requestInfo } from '../../src/page/parts/verbs';

test.each([
  ['GET', '/api/v1/namespaces', 'list', 'namespaces', ''],
  ['GET', '/api/v1/namespaces/default', 'get', 'namespaces', 'default'],
  ['PUT', '/api/v1/namespaces/default/finalize', 'update', 'namespaces', 'default'],
  ['GET', '/api/v1/namespaces/default/pods', 'list', 'pods', ''],
  ['GET', '/api/v1/pods?watch=true', 'watch', 'pods', ''],
  ['GET', '/api/v1/pods?watch=0', 'list', 'pods', ''],
  ['GET', '/api/v1/watch/pods', 'watch', 'pods', ''],
  ['POST', '/apis/apps/v1/namespaces/x/deployments', 'create', 'deployments', ''],
  ['PATCH', '/apis/apps/v1/namespaces/x/deployments/web/scale', 'patch', 'deployments', 'web'],
  ['DELETE', '/apis/apps/v1/namespaces/x/deployments', 'deletecollection', 'deployments', ''],
  ['DELETE', '/apis/apps/v1/namespaces/x/deployments/web', 'delete', 'deployments', 'web'],
  ['GET', '/readyz?verbose', 'get', '', ''],
  ['GET', '/apis/apps/v1', 'get', '', ''],
])('%s %s is %s %s', (method, path, verb, resource, name) => {
  expect(requestInfo(method, path)).toMatchObject({ verb, resource, name });
});
