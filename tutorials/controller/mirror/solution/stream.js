const boatsPath = '/apis/controller-mirror.example.com/v1/namespaces/controller-mirror/boats';
const mirrorPath = '/api/v1/namespaces/controller-mirror/configmaps/mirror';

const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const boats = new Map();
let complete = false;
let rest = '';
const answer = await fetch(`${boatsPath}?${query}`);
const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
for (;;) {
  const { value, done } = await reader.read();
  if (done) break;
  const lines = (rest + value).split('\n');
  rest = lines.pop();
  for (const { type, object } of lines.map((line) => JSON.parse(line))) {
    if (type === 'BOOKMARK') complete ||= 'k8s.io/initial-events-end' in (object.metadata.annotations ?? {});
    else if (type === 'DELETED') boats.delete(object.metadata.uid);
    else boats.set(object.metadata.uid, object.metadata.name);
  }
  if (!complete) continue;
  const names = [...boats.values()].sort().join(' ');
  await fetch(`${mirrorPath}?fieldManager=mirror&force=true`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/apply-patch+yaml' },
    body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mirror' }, data: { names } }),
  });
}
