const group = 'controller-reconcile.example.com';
const greetingsPath = `/apis/${group}/v1/namespaces/controller-reconcile/greetings`;
const configMapsPath = '/api/v1/namespaces/controller-reconcile/configmaps';

const { items } = await (await fetch(greetingsPath)).json();
for (const { metadata, spec } of items) await reconcile(metadata, spec);

async function reconcile({ name, uid }, spec) {
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

async function apply(path, object) {
  const headers = { 'Content-Type': 'application/apply-patch+yaml' };
  const body = JSON.stringify(object);
  const answer = await fetch(`${path}?fieldManager=greeter&force=true`, { method: 'PATCH', headers, body });
  if (!answer.ok) throw new Error(await answer.text());
  console.log('applied', path);
}
