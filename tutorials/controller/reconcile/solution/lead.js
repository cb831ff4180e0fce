const leasePath = '/apis/coordination.k8s.io/v1/namespaces/controller-reconcile/leases/greeter';
const me = crypto.randomUUID();

while (!(await leads())) await sleep(500);
console.log(me, 'leads');
setInterval(async () => {
  if (!(await leads())) throw new Error('another copy leads');
}, 1000);

// Takes or renews the Lease. Its resourceVersion lets only one of two win.
async function leads() {
  const answer = await fetch(leasePath);
  const lease = answer.ok ? await answer.json() : null;
  const { holderIdentity, renewTime, leaseDurationSeconds } = lease?.spec ?? {};
  if (lease && holderIdentity !== me && Date.now() < Date.parse(renewTime) + leaseDurationSeconds * 1000) return false;
  const wanted = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'greeter', resourceVersion: lease?.metadata.resourceVersion },
    spec: { holderIdentity: me, leaseDurationSeconds: 5, renewTime: new Date().toISOString().replace('Z', '000Z') },
  };
  const { ok } = await fetch(leasePath, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(wanted),
  });
  return ok;
}
