import { counted, number } from './language/figures';
import { catalogue } from './language/language';

const RELOAD =
  'Check the connection, then try again. If the site was updated a moment ago, reload the page.';
const RESTART = 'Start it again: your objects are kept.';

/** Sentences of the frame; each view has its own, loaded with it. */
export const english = {
  tagline: 'The Kubernetes API server, in this tab',
  skip: 'Skip to the main pane',
  views: {
    lessons: 'Lessons',
    cluster: 'Cluster',
    files: 'Files',
    terminal: 'Terminal',
    requests: 'Requests',
    console: 'Console',
    settings: 'Settings',
  },
  close: 'Close',
  rail: { label: 'Views' },
  pane: {
    maximise: 'Fill the window',
    restore: 'Back to its place',
    resize: (what: string) => `Resize: ${what}`,
  },
  lazy: { what: 'A part of the page could not be loaded.', again: 'Try again' },
  stage: { label: 'Beside the lesson', picture: 'Picture', files: 'Files' },
  offer: {
    title: 'Everything is a request',
    text: 'Whatever you do with a cluster, somebody sends an HTTP request and the API server answers it. The first lesson shows that with one command: five minutes, in a cluster of its own.',
    begin: 'Begin the first lesson',
    all: 'All lessons',
    decline: 'Not now',
  },
  defect: {
    what: 'This part of the page has stopped, because of a defect in Kubetab. Your cluster goes on.',
    again: 'Draw it again',
  },
  strip: {
    region: 'Requests',
    title: 'Requests',
    none: 'Every request to the API server appears here as it happens.',
    missing: 'This engine keeps no log of requests.',
    running: 'running',
    stream: (events: number) => `stream, ${counted(events, 'event', 'events')}`,
    /** Who makes requests; a component of the cluster goes by its own name. */
    from: {
      view: 'live view',
      editor: 'editor',
      console: 'console',
      control: 'page',
      page: 'script',
      script: 'script',
      lesson: 'lesson',
      terminal: 'terminal',
    },
  },
  cluster: {
    label: (title: string) => `Cluster: ${title}`,
    all: 'Clusters',
    own: 'Your cluster',
    prepared: {
      shop: 'A web shop',
      custom: 'Custom resources',
      broken: 'A broken cluster',
      system: 'CoreDNS',
    },
    emulating: (version: string) => `emulating ${version}`,
  },
  clock: {
    label: 'Clock of the cluster',
    state: (how: string) => `Clock of the cluster: ${how}`,
    times: (speed: number) => `${number(speed)}×`,
    paused: 'paused',
    pause: 'Pause the clock',
    resume: 'Let the clock go on',
    speed: (speed: number) => `Clock: ${number(speed)} times as fast`,
    realTime: 'Clock: as real time',
  },
  share: { open: 'Share' },
  identity: {
    label: 'Acting as',
    admin: 'administrator',
    editor: 'editor',
    viewer: 'viewer',
    more: 'a service account ...',
    notInTerminal: (why: string) =>
      `kubectl in the terminal stays who it was, because its kubeconfig cannot be read: ${why}. Mend ~/.kube/config, or remove it.`,
  },
  palette: {
    open: 'Go to or run',
    key: 'Ctrl K',
    placeholder: 'A kind, an object, a file, or something to do',
    none: (typed: string) => `Nothing in the cluster or on this page is found by "${typed}".`,
    found: (n: number) => `${counted(n, 'result', 'results')}`,
    first: (shown: number, all: number) =>
      `The first ${number(shown)} of ${number(all)}. Type more to narrow them down.`,
    reading: (n: number) => `Reading the objects of ${counted(n, 'more kind', 'more kinds')}`,
    waiting: 'Objects of the cluster can be found when the API server is ready.',
    view: 'View',
    identity: 'Identity',
    actAs: (who: string) => `Act as ${who}`,
    page: 'Page',
    theme: 'Change the theme',
    language: 'Language',
    engine: 'Engine',
    clock: 'Clock',
  },
  copy: {
    as: (what: string) => `Copy as ${what}`,
    done: 'Copied',
  },
  title: 'Kubetab - the Kubernetes API server in this tab',
  language: {
    label: 'Language',
    missing: 'The Chinese texts could not be loaded. Try again later.',
  },
  tryIt: 'Put it into the terminal',
  theme: { system: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark' },
  engine: {
    connecting: 'Connecting to the engine',
    downloading: (loaded: string, total: string) =>
      `Downloading the API server - ${loaded} of ${total}`,
    compiling: 'Compiling the API server',
    starting: (stage: string) => `Starting kube-apiserver v1.37 - ${stage}`,
    /** While any of the above is shown beside it. */
    busy: 'starting',
    ready: 'ready',
    silent: 'not answering',
    noEtcd: 'etcd is stopped',
    dead: 'stopped',
    /** What follows after the stage with this name. */
    after: {
      compile: 'storage',
      storage: 'APIs',
      apis: 'controllers',
      controllers: 'waiting until it is ready',
      thaw: 'going on from its snapshot',
      soon: 'fetching what is called next',
      rest: 'fetching what only a start from nothing needs',
    },
  },
  details: {
    title: 'Engine',
    cluster: 'Cluster',
    version: 'Version',
    started: 'Started in',
    download: 'of which download',
    at: (time: string) => `at ${time}`,
    stages: {
      compile: 'compiled',
      storage: 'storage',
      apis: 'APIs',
      controllers: 'controllers',
      thaw: 'snapshot',
      soon: 'second part of the module',
      rest: 'rest of the module',
      ready: 'ready',
    },
    from: 'Began',
    origins: { snapshot: 'from its snapshot', nothing: 'from nothing' },
    objects: 'Objects',
    clusters: { new: 'a new cluster', kept: 'those of the last start' },
    memory: 'Memory',
    heap: 'of which Go heap in use',
    goroutines: 'Goroutines',
    requests: 'Requests in flight',
    etcd: {
      stop: 'Stop etcd',
      start: 'Start etcd',
      about: 'Without etcd, /readyz fails and writes wait. Nothing is lost.',
      isStopped: 'etcd is stopped: /readyz fails, and writes wait until it is there again.',
    },
    home: 'Runs in',
    homes: {
      shared: 'a worker shared by all tabs of this site',
      leader: 'a worker of this tab: it ends with the tab',
      follower: 'a worker of another tab: it ends with that tab',
      alone: 'a worker of this page: it ends with the page',
    },
    transport: 'Reached',
    transports: {
      'service-worker': 'through the service worker, by plain fetch',
      'engine-port': 'directly, without the service worker',
    },
    serviceWorkerRefused: (why: string) => `The service worker could not be installed: ${why}`,
    noServiceWorker:
      'This browser or this window offers no service worker (they need https or localhost).',
    restart: 'Restart with an empty cluster',
    restartAsk: 'Everything in this cluster will be lost. Restart?',
  },
  dead: {
    what: {
      worker: 'The engine worker could not be started.',
      gone: 'The engine worker is gone, and the cluster with it.',
      download: 'The API server could not be downloaded.',
      start: 'The API server was downloaded but could not be started.',
      unsupported: 'This browser cannot run the API server.',
      crash: 'The API server crashed.',
      exit: 'The API server ended.',
    },
    next: {
      worker: RELOAD,
      gone: RESTART,
      start: RELOAD,
      download: RELOAD,
      unsupported: 'Use a current Chrome, Edge, Firefox or Safari.',
      crash:
        'Start it again: your objects are kept. If it happens twice with the same request, that is a bug worth reporting with the output below.',
      exit: RESTART,
    },
    again: 'Start again',
    anew: 'Start with an empty cluster',
    output: 'What the program printed',
  },
  notice: {
    update: 'A new version of Kubetab is ready. Loading it starts this cluster again in every tab.',
    updateAction: 'Load it now',
    ledHere: 'The tab that held the cluster was closed, so this tab has started it again.',
    ledThere: 'The tab that held the cluster was closed, so another tab has started it again.',
    dismiss: 'Dismiss',
  },
};

export type Words = typeof english;
export const words = catalogue(english, ({ frame }) => frame);
