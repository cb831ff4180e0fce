import { catalogue } from '../language/language';

export const english = {
  title: 'Settings',
  identity: {
    title: 'Acting as',
    about:
      'Who the requests of the views, the editor and the console are from. The administrator impersonates the others, as kubectl --as does: the inspector shows the headers.',
    admin: ['administrator', 'In the group system:masters: RBAC is not asked.'],
    editor: [
      'editor',
      'kubetab-edit, ClusterRole edit: may change most things in namespaces, and not their roles.',
    ],
    viewer: ['viewer', 'kubetab-view, ClusterRole view: may read most things, and no Secrets.'],
    account: [
      'a service account',
      'What a Pod that runs as it may do: nothing, until a role is bound to it.',
    ],
    choose: 'Service account',
  },
  clock: {
    title: 'Clock',
    about:
      'Controllers, scheduler and nodes go by this clock: Jobs, CronJobs and timeouts need not be waited for.',
    now: 'Now',
    pause: 'Pause',
    resume: 'Go on',
    paused: 'paused',
    speed: 'Speed',
    speeds: {
      1: 'as real time',
      10: '10 times',
      60: 'a minute a second',
      600: '10 minutes a second',
    },
    step: 'Step',
    steps: { 10: '10 s', 60: '1 min', 3600: '1 h', 86400: '1 day' },
    missing: 'This engine has no clock of its own.',
  },
  engine: {
    title: 'Engine',
    about: 'Measured in this tab, at this start.',
  },
  look: {
    title: 'Look',
    theme: 'Theme',
  },
};

export type Words = typeof english;
export const words = catalogue(english, (chinese) => chinese.control);
