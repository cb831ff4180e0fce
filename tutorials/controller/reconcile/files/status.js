const group = 'controller-reconcile.example.com';
const greetingsPath = `/apis/${group}/v1/namespaces/controller-reconcile/greetings`;

const { items } = await (await fetch(greetingsPath)).json();
for (const { metadata } of items) await reconcile(metadata);

async function reconcile({ name, generation }) {
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

async function apply(path, object) {
  const headers = { 'Content-Type': 'application/apply-patch+yaml' };
  const body = JSON.stringify(object);
  const answer = await fetch(`${path}?fieldManager=greeter&force=true`, { method: 'PATCH', headers, body });
  if (!answer.ok) throw new Error(await answer.text());
  console.log('applied', path);
}
