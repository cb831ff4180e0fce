import { type ReadonlySignal, signal } from '@preact/signals';
import { identity } from '../control/identity';
import { ask, refused } from '../engine/ask';
import { mayShow } from '../engine/first-moments';
import { framesOf } from '../engine/frames';
import { onRecord } from '../requests/log';
import { Refusals } from './refusals';

/**
 * Everything the view shows comes from watches that begin with the existing objects (`sendInitialEvents`): one
 * request per collection, no list beside it, and never one large answer to parse at once.
 *
 *   useWatch(path) ── acquire ──▶ Watch ── GET ...?watch=1&sendInitialEvents=true ──▶ engine
 *         ◀── snapshot signal, at most one for every PACE ──┘
 *
 * Components that show the same collection share its watch; it ends a while after the last of them was removed.
 */
export interface Snapshot<T> {
  /** `loading` until the first complete picture; `refused` and `broken` come with words, and with what was known. */
  readonly state: 'waiting' | 'loading' | 'live' | 'refused' | 'broken';
  readonly problem: string;
  readonly items: ReadonlyMap<string, T>;
  /** Raised with every snapshot. */
  readonly version: number;
}

interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

/** How the objects of a watch are read: full or only their metadata, or rows of a Table. */
export interface Form<T> {
  readonly name: string;
  readonly accept: string;
  /** Is given what each event holds: what the first one brings for all is in the bookmark of an empty collection. */
  note?(object: unknown): void;
  /** The items of an event with their keys. */
  read(object: unknown): readonly (readonly [key: string, item: T])[];
  /** Whether the event is the bookmark after the initial ones. */
  isInitialEnd(object: unknown): boolean;
}

const PACE = 80;
const LINGER = 8000;
const INITIAL_END = 'k8s.io/initial-events-end';

interface Meta {
  readonly metadata?: {
    readonly uid?: string;
    readonly name?: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

function keyOf({ metadata }: Meta): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

const isEnd = (object: Meta) => object.metadata?.annotations?.[INITIAL_END] === 'true';

export function objects<T>(): Form<T> {
  return {
    name: 'object',
    accept: 'application/json',
    read: (object) => [[keyOf(object as Meta), object as T]],
    isInitialEnd: (object) => isEnd(object as Meta),
  };
}

/** Enough to count and to name. */
export function metadata<T>(): Form<T> {
  return {
    ...objects<T>(),
    name: 'metadata',
    accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  };
}

let refusals: Refusals | null = null;

/** Those of all watches: there is one, from the first that is refused. */
function refusalsHeard(): Refusals {
  if (refusals) return refusals;
  const heard = new Refusals();
  refusals = heard;
  onRecord((record) => {
    if (record.done) heard.note(record);
  });
  return heard;
}

export class Watch<T> {
  readonly #path: string;
  readonly #form: Form<T>;
  readonly #snapshot = signal<Snapshot<T>>({
    state: 'waiting',
    problem: '',
    items: new Map(),
    version: 0,
  });
  #items = new Map<string, T>();
  #users = 0;
  #stop: AbortController | null = null;
  #linger: ReturnType<typeof setTimeout> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #unsubscribe: (() => void)[] = [];
  #state: Snapshot<T>['state'] = 'waiting';
  #problem = '';

  constructor(path: string, form: Form<T>) {
    this.#path = path;
    this.#form = form;
  }

  get snapshot(): ReadonlySignal<Snapshot<T>> {
    return this.#snapshot;
  }

  get idle(): boolean {
    return this.#users === 0;
  }

  /** @returns what gives it back */
  acquire(onIdle: () => void): () => void {
    this.#users++;
    if (this.#linger !== null) clearTimeout(this.#linger);
    this.#linger = null;
    if (this.#unsubscribe.length === 0) {
      // Another identity sees other things; another engine has other things.
      let who = identity.value;
      this.#unsubscribe = [
        mayShow.subscribe((may) => this.#restart(may)),
        identity.subscribe((now) => {
          if (now === who) return;
          who = now;
          this.#restart(mayShow.value);
        }),
      ];
    }
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#users--;
      if (this.#users > 0) return;
      this.#linger = setTimeout(() => {
        for (const end of this.#unsubscribe) end();
        this.#unsubscribe = [];
        this.#stop?.abort();
        onIdle();
      }, LINGER);
    };
  }

  #restart(mayBegin: boolean): void {
    this.#stop?.abort();
    this.#stop = null;
    this.#items = new Map();
    this.#set(mayBegin ? 'loading' : 'waiting');
    if (!mayBegin) return;
    this.#stop = new AbortController();
    void this.#run(this.#stop.signal);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let status: number | undefined;
      try {
        await this.#once(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Error && 'status' in error) status = Number(error.status);
        this.#set(status ? 'refused' : 'broken', String((error as Error).message));
      }
      // A watch ends by itself after a while; one that is refused is tried again, because rights and kinds change.
      await refusalsHeard().over(status, signal);
    }
  }

  async #once(signal: AbortSignal): Promise<void> {
    const more = this.#path.includes('?') ? '&' : '?';
    const query =
      'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const response = await ask('view', `${this.#path}${more}${query}`, {
      headers: [['Accept', this.#form.accept]],
      signal,
    });
    if (!response.ok || !response.body) {
      throw refused(response.status, await response.text(), this.#path);
    }
    // What was known before and does not come again has gone meanwhile.
    let fresh: Set<string> | null = new Set();
    for await (const frame of framesOf(response.body)) {
      if (signal.aborted) return;
      const { type, object } = JSON.parse(frame) as WatchEvent;
      if (type === 'ERROR') throw new Error((object as { message?: string }).message ?? 'ERROR');
      this.#form.note?.(object);
      if (type === 'BOOKMARK') {
        if (fresh && this.#form.isInitialEnd(object)) {
          for (const key of this.#items.keys()) if (!fresh.has(key)) this.#items.delete(key);
          fresh = null;
          this.#set('live');
        }
        continue;
      }
      for (const [key, item] of this.#form.read(object)) {
        if (type === 'DELETED') {
          this.#items.delete(key);
        } else {
          this.#items.set(key, item);
          fresh?.add(key);
        }
      }
      if (!fresh) this.#schedule();
    }
  }

  #set(state: Snapshot<T>['state'], problem = ''): void {
    this.#state = state;
    this.#problem = problem;
    this.#publish();
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.#publish(), PACE);
  }

  #publish(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#snapshot.value = {
      state: this.#state,
      problem: this.#problem,
      items: new Map(this.#items),
      version: this.#snapshot.peek().version + 1,
    };
  }
}

const open = new Map<string, Watch<unknown>>();

/** The one watch of a path in a form. */
export function watchOf<T>(path: string, form: Form<T>): Watch<T> {
  const key = `${form.name} ${path}`;
  let found = open.get(key);
  if (!found) {
    found = new Watch<unknown>(path, form as Form<unknown>);
    open.set(key, found);
  }
  return found as Watch<T>;
}

export function hold<T>(path: string, form: Form<T>): { watch: Watch<T>; release: () => void } {
  const watch = watchOf(path, form);
  const release = watch.acquire(() => {
    const key = `${form.name} ${path}`;
    if (open.get(key) === (watch as unknown)) open.delete(key);
  });
  return { watch, release };
}
