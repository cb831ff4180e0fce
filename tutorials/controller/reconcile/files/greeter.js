const group = 'controller-reconcile.example.com';
const greetingsPath = `/apis/${group}/v1/namespaces/controller-reconcile/greetings`;
const configMapsPath = '/api/v1/namespaces/controller-reconcile/configmaps';
const finalizer = '';

const greetings = new Map();
const configMaps = new Map();
const queue = new Set();

follow(greetingsPath, greetings, (name) => queue.add(name));
follow(configMapsPath, configMaps, (name) => queue.add(name.replace(/^greeting-/, '')));

for (;;) {
  for (const name of queue) {
    queue.delete(name);
    if (greetings.has(name)) await reconcile(greetings.get(name)).catch((error) => later(name, error));
  }
  await sleep(100);
}

// From what is there to what is wanted. It does not ask what has happened.
async function reconcile({ metadata, spec, status }) {
  const { name, uid, generation, finalizers = [] } = metadata;
  if (metadata.deletionTimestamp) {
    if (finalizer && finalizers.includes(finalizer)) await leave(name, uid);
    return;
  }
  if (finalizer && !finalizers.includes(finalizer)) await hold(name, uid, [finalizer]);
  const configMap = configMaps.get(`greeting-${name}`);
  if (configMap?.data.text !== spec.text) {
    await apply(`${configMapsPath}/greeting-${name}`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: `greeting-${name}`,
        ownerReferences: [{ apiVersion: `${group}/v1`, kind: 'Greeting', name, uid, controller: true }],
      },
      data: { text: spec.text },
    });
  }
  if (status?.observedGeneration === generation) return;
  const lastTransitionTime = new Date().toISOString();
  await apply(`${greetingsPath}/${name}/status`, {
    apiVersion: `${group}/v1`,
    kind: 'Greeting',
    metadata: { name },
    status: {
      observedGeneration: generation,
      conditions: [{ type: 'Ready', status: 'True', reason: 'Written', lastTransitionTime }],
    },
  });
}

async function leave(name, uid) {
  await apply(`${configMapsPath}/farewell-${name}`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `farewell-${name}` },
    data: { text: `Goodbye from ${name}` },
  });
  await hold(name, uid, []);
}

function hold(name, uid, finalizers) {
  const metadata = { name, uid, finalizers };
  return apply(`${greetingsPath}/${name}`, { apiVersion: `${group}/v1`, kind: 'Greeting', metadata });
}

async function apply(path, object) {
  const headers = { 'Content-Type': 'application/apply-patch+yaml' };
  const body = JSON.stringify(object);
  const answer = await fetch(`${path}?fieldManager=greeter&force=true`, { method: 'PATCH', headers, body });
  if (!answer.ok) throw new Error(await answer.text());
  console.log('applied', path);
}

// One request: first all there is, then each change. When it ends, all over again.
async function follow(path, known, changed) {
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  for (;;) {
    known.clear();
    const answer = await fetch(`${path}?${query}`);
    console.log('watches', path.split('/').pop(), answer.status);
    if (answer.ok) for await (const { type, object } of events(answer)) {
      const { name } = object.metadata;
      if (type === 'DELETED') known.delete(name);
      else if (name) known.set(name, object);
      if (name) changed(name);
    }
    await sleep(1000);
  }
}

async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ; ) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}

function later(name, error) {
  console.warn(error.message);
  setTimeout(() => queue.add(name), 1000);
}

function sleep(ms) {
  return new Promise((wake) => setTimeout(wake, ms));
}
