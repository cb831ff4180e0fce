import { counted, number } from '../language/figures';
import { catalogue } from '../language/language';

export const english = {
  label: 'Workloads, nodes and Services',
  unscheduled: 'Not on a node yet',
  pods: (n: number) => counted(n, 'Pod', 'Pods'),
  of: (n: number, wanted: number) => `${number(n)} of ${counted(wanted, 'Pod', 'Pods')}`,
  pod: (name: string, phase: string) => `Pod ${name}, ${phase}`,
  notReady: 'not ready',
  cordoned: 'cordoned',
  phases: {
    Running: 'Running',
    Pending: 'Pending',
    Succeeded: 'Succeeded',
    Failed: 'Failed',
    Terminating: 'Terminating',
  },
  legend: 'Pods by phase',
  noNodes: 'This cluster has no node.',
  empty: (namespace: string) => `No Pods in ${namespace || 'this cluster'} yet.`,
  tryThis: 'Apply deployment.yaml in the editor, or try:',
  tryCommand: 'kubectl create deployment hello --image=nginx --replicas=3',
  simulated: 'Nodes are simulated; the API server, scheduler and controllers are the real ones.',
  waiting: 'The picture appears as soon as the API server is ready.',
  loading: 'Reading the cluster',
};

export type Words = typeof english;
export const words = catalogue(english, (chinese) => chinese.picture);
