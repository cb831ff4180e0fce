import type { EnginePort } from '../protocol';
import { isClusterName, OWN } from './cluster-names';
import { EngineLink } from './link';

/** Names the cluster of a request whose client is no page: a worker of a page, or a program that has been told. */
const CLUSTER_HEADER = 'Kubetab-Cluster';

/** How long pages may take to answer at all. Those of another site's scope, or without an engine, never do. */
const PAGE_WAIT_MS = 3000;
/** How long an engine may take to answer on a port that a page has given: it may be busy with its own start. */
const ENGINE_WAIT_MS = 30_000;

/** The fields of a service worker's `Client` that are used here. */
export interface Asker {
  readonly id: string;
  readonly type: string;
  readonly url: string;
}

/** What the routes need of the service worker. */
export interface Site<A extends Asker> {
  get(id: string): Promise<A | undefined>;
  /** All windows, controlled or not. */
  windows(): Promise<readonly A[]>;
  /** Asks a page for its cluster and a port to the engine of that: see `Routes.take`. */
  ask(page: A): void;
  /** Whether an address is that of the page itself, which answers; a window with another one may never. */
  isPage(url: URL): boolean;
}

/** Why a request cannot be sent, and after how many seconds it may be tried again. */
export interface NoRoute {
  readonly why: string;
  readonly retryAfter: number;
}

/**
 * From the client of a request to the engine of its cluster, and to no other one.
 *
 *   client ──▶ cluster ──▶ port to the cluster's engine
 *
 * Pages have told the service worker both arrows. They are lost whenever the browser stops the service worker: it then
 * asks a page whose cluster it does not know, and the page's request waits. A page's cluster never changes. A client
 * that is no page of the site (a worker, an answer that is opened as a document) has no cluster of its own: the
 * request can name one. Otherwise it is the cluster of all open pages. If these differ, an answer that is opened as a
 * document comes from the visitor's own cluster.
 */
export class Routes<A extends Asker> {
  readonly #site: Site<A>;
  readonly #clusters = new Map<string, string>();
  readonly #links = new Map<string, EngineLink>();
  /** Ports that a page has given and no engine has answered on yet. */
  readonly #given = new Map<string, number>();
  /** Pages that have been asked a moment ago: one port is enough for all requests. */
  readonly #asked = new Set<string>();
  readonly #waiting = new Set<() => void>();

  constructor(site: Site<A>) {
    this.#site = site;
  }

  /** A page gives a port, because it was asked for one or because it has just come. */
  take(page: string, { cluster, port }: Pick<EnginePort, 'cluster' | 'port'>): void {
    this.#clusters.set(page, cluster);
    this.#asked.delete(page);
    this.#given.set(cluster, (this.#given.get(cluster) ?? 0) + 1);
    const candidate = new EngineLink(port, 'service-worker');
    candidate
      .welcomed()
      .then(
        () => {
          if (this.#alive(cluster)) candidate.close();
          else this.#links.set(cluster, candidate);
        },
        () => undefined, // that page's engine is gone too; another page may answer
      )
      .finally(() => {
        this.#given.set(cluster, (this.#given.get(cluster) ?? 1) - 1);
        this.#changed();
      });
    this.#changed();
  }

  /**
   * @param client the id that the browser gives to the client of the request; empty where it gives none
   */
  async of(client: string, request: Request): Promise<EngineLink | NoRoute> {
    const named = request.headers.get(CLUSTER_HEADER);
    const cluster = named === null ? await this.#clusterOf(client, request) : checked(named);
    return typeof cluster === 'string' ? this.#linkTo(cluster) : cluster;
  }

  async #clusterOf(id: string, request: Request): Promise<string | NoRoute> {
    const known = this.#clusters.get(id);
    if (known !== undefined) return known;
    const client = id ? await this.#site.get(id) : undefined;
    if (client && this.#isPage(client)) {
      // It answers as soon as its thread is free. Until then nobody knows where its request belongs.
      this.#ask(client);
      const cluster = await this.#until(() => this.#clusters.get(id), ENGINE_WAIT_MS);
      return cluster ?? { why: SILENT, retryAfter: 1 };
    }
    const pages = await this.#pages();
    if (pages.length === 0) return { why: NO_ENGINE, retryAfter: 5 };
    const unknown = () => pages.filter(({ id }) => !this.#clusters.has(id));
    for (const page of unknown()) this.#ask(page);
    await this.#until(() => (unknown().length === 0 ? true : undefined), PAGE_WAIT_MS);
    const silent = unknown().filter((page) => this.#isPage(page));
    const found = new Set(pages.flatMap(({ id }) => this.#clusters.get(id) ?? []));
    if (silent.length > 0) return { why: SILENT, retryAfter: 1 };
    const [first] = found;
    if (first === undefined) return { why: NO_ENGINE, retryAfter: 5 };
    if (found.size === 1) return first;
    if (request.mode === 'navigate' && found.has(OWN)) return OWN;
    return { why: several([...found].sort()), retryAfter: 5 };
  }

  async #linkTo(cluster: string): Promise<EngineLink | NoRoute> {
    const link = this.#alive(cluster);
    if (link) return link;
    const pages = await this.#pages();
    const given = () => (this.#given.get(cluster) ?? 0) > 0;
    // Those that are known to be elsewhere have nothing to say to this.
    const asked = pages.filter(({ id }) => (this.#clusters.get(id) ?? cluster) === cluster);
    const alive = () => this.#alive(cluster);
    const answered = () => alive() ?? (given() ? null : undefined);
    const deadline = performance.now() + ENGINE_WAIT_MS;
    let found = given() ? await this.#until(alive, PAGE_WAIT_MS) : undefined;
    // A port that was given may lead to an engine that has ended, of which its page had not heard: pages are asked again.
    while (!found && asked.length > 0 && performance.now() < deadline) {
      for (const page of asked) this.#ask(page);
      await this.#until(answered, PAGE_WAIT_MS);
      if (!given()) break;
      found = await this.#until(alive, PAGE_WAIT_MS);
    }
    if (found) return found;
    return { why: pages.length > 0 ? notOpen(cluster) : NO_ENGINE, retryAfter: 5 };
  }

  #ask(page: A): void {
    if (this.#asked.has(page.id)) return;
    this.#asked.add(page.id);
    setTimeout(() => this.#asked.delete(page.id), PAGE_WAIT_MS);
    this.#site.ask(page);
  }

  #alive(cluster: string): EngineLink | undefined {
    const link = this.#links.get(cluster);
    return link && !link.lost.aborted ? link : undefined;
  }

  #isPage({ type, url }: A): boolean {
    return type === 'window' && this.#site.isPage(new URL(url));
  }

  /** All windows. Of those that are closed nothing is remembered. */
  async #pages(): Promise<readonly A[]> {
    const pages = await this.#site.windows();
    const open = new Set(pages.map(({ id }) => id));
    for (const id of this.#clusters.keys()) if (!open.has(id)) this.#clusters.delete(id);
    return pages;
  }

  #changed(): void {
    for (const look of [...this.#waiting]) look();
  }

  /** What `found` returns as soon as that is not undefined; undefined after so many ms. */
  #until<T>(found: () => T | undefined, ms: number): Promise<T | undefined> {
    const now = found();
    if (now !== undefined || ms === 0) return Promise.resolve(now);
    return new Promise((resolve) => {
      const settle = (value: T | undefined) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(value);
      };
      const look = () => {
        const value = found();
        if (value !== undefined) settle(value);
      };
      const timer = setTimeout(() => settle(undefined), ms);
      this.#waiting.add(look);
    });
  }
}

function checked(name: string): string | NoRoute {
  if (isClusterName(name)) return name;
  return {
    why: `The header ${CLUSTER_HEADER} does not hold the name of a cluster.`,
    retryAfter: 5,
  };
}

const NO_ENGINE =
  'There is no API server: it runs in a page of this site, and none is open. Open the page, then try again.';
const SILENT =
  'A page of this site does not answer, so that nobody knows which cluster this request is for. Try again.';

function notOpen(cluster: string): string {
  return `The API server of the cluster ${cluster} does not run: no page of this site that is open is in that cluster.`;
}

function several(clusters: readonly string[]): string {
  return `The open pages of this site are in several clusters. Say which one is meant in the header ${CLUSTER_HEADER}: ${clusters.join(', ')}.`;
}
