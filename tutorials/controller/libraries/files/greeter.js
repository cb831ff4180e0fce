const group = 'controller-libraries.example.com';
const greetingsPath = `/apis/${group}/v1/namespaces/controller-libraries/greetings`;
const configMapsPath = '/api/v1/namespaces/controller-libraries/configmaps';
const pause = 500;

const greetings = new Map();
const configMaps = new Map();
const queue = new Set();

follow(greetingsPath, greetings, (name) => queue.add(name));
// As in a large cluster, the ConfigMaps come late.
setTimeout(() => follow(configMapsPath, configMaps, (name) => queue.add(name.replace(/^greeting-/, ''))), 2000);

for (;;) {
  const [name] = queue;
  queue.delete(name);
  if (greetings.has(name)) await reconcile(greetings.get(name)).catch((error) => later(name, error));
  await sleep(pause);
}

async function reconcile({ metadata, spec, status }) {
  const { name, uid, generation } = metadata;
  if (configMaps.get(`greeting-${name}`)?.data.text !== spec.text) {
    const written = await apply(`${configMapsPath}/greeting-${name}`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: `greeting-${name}`,
        ownerReferences: [{ apiVersion: `${group}/v1`, kind: 'Greeting', name, uid, controller: true }],
      },
      data: { text: spec.text },
    });
    configMaps.set(written.metadata.name, written);
  }
  if (status?.observedGeneration === generation) return;
  await apply(`${greetingsPath}/${name}/status`, {
    apiVersion: `${group}/v1`,
    kind: 'Greeting',
    metadata: { name },
    status: { observedGeneration: generation },
  });
}

async function apply(path, object) {
  const headers = { 'Content-Type': 'application/apply-patch+yaml' };
  const body = JSON.stringify(object);
  const answer = await fetch(`${path}?fieldManager=greeter&force=true`, { method: 'PATCH', headers, body });
  if (!answer.ok) throw new Error(await answer.text());
  console.log(answer.status, path);
  return answer.json();
}

async function follow(path, known, changed) {
  const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  for (;;) {
    known.clear();
    const answer = await fetch(`${path}?${query}`);
    if (answer.ok) for await (const { type, object } of events(answer)) {
      const { name, annotations } = object.metadata;
      if (annotations?.['k8s.io/initial-events-end']) console.log('complete', path);
      else if (type === 'DELETED') known.delete(name);
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
