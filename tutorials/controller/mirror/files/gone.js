const boatsPath = '/apis/controller-mirror.example.com/v1/namespaces/controller-mirror/boats';
const mirrorPath = '/api/v1/namespaces/controller-mirror/configmaps/mirror';

const boats = new Map();

let revision = '1'; // as if this program had slept since the cluster began
for (;;) {
  revision = revision ? await watch(revision) : await list();
}

// Forgets what it knew, and returns the revision to watch from.
async function list() {
  boats.clear();
  const list = await (await fetch(boatsPath)).json();
  for (const boat of list.items) boats.set(boat.metadata.uid, boat);
  console.log('listed at', list.metadata.resourceVersion);
  await mirror();
  return list.metadata.resourceVersion;
}

// Returns the revision to go on from; nothing when it must list again.
async function watch(from) {
  console.log('watches from', from);
  const answer = await fetch(`${boatsPath}?watch=1&allowWatchBookmarks=true&resourceVersion=${from}`);
  if (!answer.ok) return later(answer.status, await answer.text(), from);
  let last = from;
  for await (const { type, object } of events(answer)) {
    if (type === 'ERROR') return later(object.code, object.message, '');
    last = object.metadata.resourceVersion;
    if (type === 'BOOKMARK') continue;
    if (type === 'DELETED') boats.delete(object.metadata.uid);
    else boats.set(object.metadata.uid, object);
    await mirror();
  }
  return last;
}

async function later(code, why, revision) {
  console.warn(code, why);
  await new Promise((wake) => setTimeout(wake, 1000));
  return revision;
}

async function mirror() {
  const names = [...boats.values()].map((boat) => boat.metadata.name).sort().join(' ');
  const applied = await fetch(`${mirrorPath}?fieldManager=mirror&force=true`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/apply-patch+yaml' },
    body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mirror' }, data: { names } }),
  });
  console.log(applied.status, names);
}

async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}
