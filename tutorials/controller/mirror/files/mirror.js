const boatsPath = '/apis/controller-mirror.example.com/v1/namespaces/controller-mirror/boats';
const mirrorPath = '/api/v1/namespaces/controller-mirror/configmaps/mirror';

const boats = new Map();

const list = await (await fetch(boatsPath)).json();
for (const boat of list.items) boats.set(boat.metadata.uid, boat);
await mirror();

const answer = await fetch(`${boatsPath}?watch=1&resourceVersion=${list.metadata.resourceVersion}`);
console.log('watching', answer.status);
for await (const { type, object } of events(answer)) {
  if (type === 'DELETED') boats.delete(object.metadata.uid);
  else boats.set(object.metadata.uid, object);
  await mirror();
}

// Says what is wanted, whatever is there: made or changed, it is the same request.
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
