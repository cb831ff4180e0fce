import { counted, number } from '../language/figures';
import { catalogue } from '../language/language';

export const english = {
  title: 'Settings',
  identity: {
    title: 'Acting as',
    about:
      'Who the requests of the views, the editor, the console and the terminal are from. The administrator impersonates the others, as kubectl --as does: the inspector shows the headers. kubectl config use-context changes it, too.',
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
    foreign: (context: string) => `kubectl in the terminal uses the context ${context} of its own.`,
    same: 'Make it the same as here',
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
    times: (speed: number) => `${number(speed)} times`,
    missing: 'This engine has no clock of its own.',
    waiting: 'The clock can be read when the API server is ready.',
  },
  settings: {
    title: 'Engine settings',
    about:
      'What kube-apiserver and the cluster around it are started with. They take effect with a restart.',
    waiting: 'The engine is starting.',
    version: 'Emulated version',
    versionAbout: 'As --emulated-version: APIs and features are those of this version.',
    own: (version: string) => `${version}, its own`,
    nodes: 'Nodes',
    nodesAbout: 'Simulated: each takes Pods and reports what a kubelet would.',
    scheduler: 'Scheduler',
    schedulerAbout: 'Without it Pods stay Pending until something binds them to a node.',
    gates: 'Feature gates',
    gateSearch: (count: number) => `Search ${count} gates`,
    gateForeign: (version: string) => `not a gate of ${version}: the engine would refuse it`,
    noGate: 'No gate has such a name.',
    stages: { '': 'GA', ALPHA: 'alpha', BETA: 'beta', DEPRECATED: 'deprecated' } as Readonly<
      Record<string, string>
    >,
    locked: (on: boolean) => `locked ${on ? 'on' : 'off'}`,
    byDefault: (on: boolean) => `${on ? 'on' : 'off'} by default`,
    needs: (gates: string) => `needs ${gates}`,
    groups: 'API versions',
    groupsAbout:
      'As --runtime-config. A feature often needs its gate and its API version. What a switched-off version held stays in the store.',
    asDefault: 'as by default',
    allOn: 'all on',
    allOff: 'all off',
    controllers: 'Controllers',
    controllersAbout:
      'As --controllers of kube-controller-manager. Without its controller, an object stays as it is written.',
    changed: (count: number) => (count === 0 ? '' : `${count} changed`),
    remove: 'Remove',
    refused: 'The engine did not start with the settings that were asked for:',
    refusedNext: 'It runs with its earlier settings again. No object was lost by it.',
    notKept: 'The cluster of the last visit cannot be gone on with:',
    notKeptNext:
      'It is left as it is, a new cluster runs instead, and what happens in that one is not kept. Restart with an empty cluster to keep again.',
    notTakenNext:
      'It was made by another build of this page and is left as it is; a new cluster runs instead, and is kept beside it.',
    takenOver:
      'Another build of this page, or another version of Kubernetes, made this cluster. This build has taken it over: objects have the names, UIDs and times that they had, and new resource versions.',
    leftOut: 'This build cannot read, and has left where it was:',
    otherBuilds: (count: number) =>
      count === 1
        ? 'A cluster that another build of this page has made is kept in this browser.'
        : `${count} clusters that other builds of this page have made are kept in this browser.`,
    forget: 'Delete',
    forgetAsk: 'Delete what other builds have kept? All that is in those clusters is lost.',
    unserved: 'In the store, and shown by no API with these settings:',
    unservedNext: 'They come back with the settings that serve them.',
  },
  restart: {
    title: 'Restart',
    about:
      'The engine ends in all tabs and starts again. Files of the terminal and the editor stay.',
    with: 'Objects',
    kept: [
      'Keep them',
      'As after a restart of kube-apiserver on the same etcd: names, UIDs and versions stay.',
    ],
    empty: ['An empty cluster', 'Everything in this cluster is lost.'],
    restart: 'Restart the engine',
    restarting: 'Asking the engine',
    discard: 'Discard the changes',
    pending: 'Settings have been changed. They take effect with a restart.',
    slow: 'Other settings than the defaults start without the snapshot: that takes some seconds longer.',
    copy: 'Copy the address of these settings',
    refusal: 'The engine would not start so:',
  },
  prepared: {
    sets: {
      shop: [
        'Deployments, a StatefulSet with a volume, Services, ConfigMaps, a Secret, autoscaling and a disruption budget.',
        'the namespace shop',
      ],
      custom: [
        'Ferries: a kind of one’s own with rules in CEL, its objects, roles and an admission policy.',
        'the namespace harbour',
      ],
      broken: [
        'Six things that do not work, each for a reason of its own: to find out with kubectl.',
        'the namespaces trouble and crowded',
      ],
      system: [
        'CoreDNS, which answers for the cluster’s names as its Corefile says, and kube-proxy on each node, as kubeadm installs them.',
        'the namespace kube-system',
      ],
    } as Readonly<
      Record<'shop' | 'custom' | 'broken' | 'system', readonly [about: string, where: string]>
    >,
    starting: (name: string) => `${name}: waiting for the engine.`,
    progress: (name: string, done: number, total: number) =>
      `${name}: ${done} of ${total} objects applied.`,
    done: (name: string, where: string) => `${name} has been applied: see ${where}.`,
    failed: (name: string, failures: number, total: number) =>
      `${name}: ${failures} of ${total} objects could not be applied.`,
    failures: 'Could not be applied:',
    show: 'Show it',
  },
  address: {
    unknown: (name: string, known: string) =>
      `There is no cluster “${name}” in this browser. An address can also ask for the prepared ones: ${known}.`,
    asks: (what: string) => `This address asks for another engine: ${what}.`,
    lost: 'Objects are kept.',
    restart: 'Restart with it',
    noBoolean: (what: string) => `${what} is neither true nor false`,
    noNumber: (what: string) => `${what} is no number`,
    noSwitch: (what: string) => `${what} is neither on nor off`,
    unreadable: (why: string) => `The settings in this address cannot be read: ${why}.`,
    refused: (why: string) => `The settings in this address are refused: ${why}`,
  },
  clusters: {
    title: 'Clusters',
    about:
      'Each has objects, settings and files of its own, kept by this browser. A tab is in one of them; another tab may be in another.',
    kinds: { own: 'Your own', lesson: 'Lessons', prepared: 'Prepared' },
    here: 'this tab',
    inUse: (tabs: number) => (tabs === 1 ? 'in another tab' : `in ${number(tabs)} other tabs`),
    notBegun: 'not begun',
    more: (title: string) => `Change ${title}`,
    rename: 'Rename',
    duplicate: 'Duplicate',
    reset: 'Reset',
    resetAsk: (title: string) =>
      `All objects and settings of “${title}” will be lost; its files stay. Reset it?`,
    remove: 'Delete',
    removeAsk: (title: string) =>
      `“${title}” will be lost with its objects, settings and files. Delete it?`,
    copyOf: (title: string) => `Copy of ${title}`,
    copied: (title: string) => `${title} has been made.`,
    name: 'Name of the cluster',
    new: 'New cluster',
    newName: 'Name of the new cluster',
    prepared: 'Or begin with',
    all: 'All clusters',
    space: (used: string, quota: string) => `This site uses ${used} of the ${quota} it may.`,
    switchTo: (title: string) => `Go to the cluster ${title}`,
    duplicateHere: 'Duplicate this cluster',
    resetHere: 'Reset this cluster',
    stays: 'A visit begins with this cluster. It can be reset, and not deleted.',
    used: 'Another tab is in it. Close that tab, or go to another cluster there, then try again.',
    full: 'The browser has no room for that, and nothing has been changed. Free some of the disk, or delete a cluster that is no longer needed, then try again.',
    failed: (why: string) => `The browser’s storage has refused: ${why}`,
  },
  bundles: {
    save: 'Save as a file',
    saveAbout:
      'All objects, the settings, the clock and the files of the workspace. Keys, tokens of service accounts and kubeconfigs are left out.',
    secrets: 'With Secrets: whoever has the file can read them',
    open: 'Open a file',
    openAbout:
      'A cluster that was saved, here or by kubetab bundle save. It becomes a new cluster.',
    manifests: 'Save as YAML',
    manifestsAbout:
      'As YAML: what people made, for kubectl apply in any cluster, in an archive with a file for each namespace. Without what controllers make again.',
    saveHere: 'Save this cluster as a file, with its Secrets',
    manifestsHere: 'Save what is in this cluster as YAML, with its Secrets',
    openHere: 'Open a cluster from a file',
    tooLarge: 'The file is larger than what this page opens. Nothing has been changed.',
    refused: (why: string) =>
      `The file cannot be opened, and nothing has been changed. The engine says: ${why}`,
    fromFile: {
      exact:
        'The cluster is as it was saved: UIDs, times and resource versions are what they were.',
      takenOver: (version: string) =>
        `Kubernetes ${version} saved this cluster. UIDs and times are what they were; resource versions are new.`,
    },
    /** `before` is a sentence, or nothing. */
    leftOut: (before: string, count: number) =>
      `${before} This build cannot read ${counted(count, 'object', 'objects')}, which the cluster is without.`.trim(),
    leftOutShow: 'Show which',
    nowhere: 'This page was built without a snapshot, and keeps no clusters: it can open none.',
    address: {
      ask: (source: string) =>
        `Open the cluster at ${source}? It becomes a new cluster in this browser; the others stay as they are.`,
      address: (wanted: string) =>
        `The link names no file on the web that could be opened: ${wanted}`,
      elsewhere: (source: string) =>
        `The link names a file of another site, which this page may not ask. Download the file, and drop it on the page: ${source}`,
      unshared: (source: string) =>
        `The link names a file of another site, which does not answer or does not share it with this page. Download the file, and drop it on the page: ${source}`,
      failed: (why: string) => `The cluster of the link cannot be fetched: ${why}`,
    },
  },
  room: {
    /** @param others whether there are other clusters */
    full: (others: boolean) =>
      `The browser has no room left. What happens in this cluster now waits in memory, and is lost with the last tab. ${others ? 'Delete a cluster that is no longer needed: then it is kept.' : 'Free some of the disk: then it is kept. Or save the cluster as a file.'}`,
    failed: (why: string) =>
      `The browser’s storage cannot be used: ${why} What happens in this cluster now is not kept.`,
    low: (free: string, others: boolean) =>
      `The browser has ${free} left for this site. ${others ? 'Delete a cluster that is no longer needed' : 'Free some of the disk, or save the cluster as a file'}, before there is no room to keep what you do.`,
    deleted:
      'What this browser kept of the cluster has been deleted, perhaps with the data of this site. The cluster goes on, and is lost with the last tab. Save it as a file to keep it.',
    whole:
      'What this browser kept of the cluster was deleted, perhaps with the data of this site. All of the cluster was still in memory, and is kept again.',
    again: 'There is room again. Everything in this cluster is kept.',
    evicted:
      'The browser has deleted what it kept of this cluster, as browsers do when the disk is nearly full. The cluster has begun anew.',
    notKept:
      'What is kept of this cluster cannot be gone on with. It is left as it is; the engine settings say why.',
    show: 'Show clusters',
    why: 'Show why',
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
