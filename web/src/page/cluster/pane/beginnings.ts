/** The shortest command that makes the first object of a kind, for tables that are empty. */
export const BEGINNINGS: Readonly<Record<string, string>> = {
  pods: 'kubectl run hello --image=nginx',
  'deployments.apps': 'kubectl create deployment hello --image=nginx --replicas=3',
  'jobs.batch': 'kubectl create job once --image=busybox -- date',
  'cronjobs.batch': 'kubectl create cronjob often --image=busybox --schedule="* * * * *" -- date',
  services: 'kubectl create service clusterip hello --tcp=80',
  'ingresses.networking.k8s.io':
    'kubectl create ingress hello --rule="hello.example.com/*=hello:80"',
  configmaps: 'kubectl create configmap colours --from-literal=sky=blue',
  secrets: 'kubectl create secret generic door --from-literal=code=1234',
  resourcequotas: 'kubectl create quota small --hard=pods=5',
  'poddisruptionbudgets.policy':
    'kubectl create poddisruptionbudget hello --selector=app=hello --min-available=1',
  serviceaccounts: 'kubectl create serviceaccount robot',
  'roles.rbac.authorization.k8s.io': 'kubectl create role reader --verb=get,list --resource=pods',
  'rolebindings.rbac.authorization.k8s.io':
    'kubectl create rolebinding readers --role=reader --serviceaccount=default:default',
};
