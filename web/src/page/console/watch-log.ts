/** One event of a watch, with the text it came as. */
export interface WatchEvent {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** For an ERROR: the message of its Status. */
  readonly message: string;
  readonly text: string;
}

export interface WatchView {
  /** Newest first. */
  readonly events: readonly WatchEvent[];
  readonly counts: Readonly<Record<string, number>>;
  readonly total: number;
}

const KEEP = 1000;

/**
 * The events of one watch. A burst of thousands is shown in a few steps instead of thousands: changes are published at
 * most once per `interval`, the first of a quiet time at once.
 */
export class WatchLog {
  readonly #publish: (view: WatchView) => void;
  readonly #interval: number;
  #events: WatchEvent[] = [];
  #counts: Record<string, number> = {};
  #total = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #dirty = false;

  constructor(publish: (view: WatchView) => void, interval = 50) {
    this.#publish = publish;
    this.#interval = interval;
  }

  /** @param at when it came, if that was not now */
  add(text: string, at = Date.now()): void {
    const event = read(text, ++this.#total, at);
    this.#events.push(event);
    if (this.#events.length > KEEP * 2) this.#events = this.#events.slice(-KEEP);
    this.#counts = { ...this.#counts, [event.type]: (this.#counts[event.type] ?? 0) + 1 };
    this.#dirty = true;
    if (this.#timer === null) this.#flush();
  }

  /** Publishes what is still held back. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#dirty) this.#show();
  }

  #flush(): void {
    this.#show();
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#dirty) this.#flush();
    }, this.#interval);
  }

  #show(): void {
    this.#dirty = false;
    const events = this.#events.slice(-KEEP).reverse();
    this.#publish({ events, counts: this.#counts, total: this.#total });
  }
}

interface RawObject {
  kind?: unknown;
  message?: unknown;
  metadata?: { name?: unknown; namespace?: unknown; resourceVersion?: unknown };
  /** Of a Table: a watch that asked for tables gets one of a single row per event. */
  rows?: { object?: RawObject }[];
}

interface RawEvent {
  type?: unknown;
  object?: RawObject;
}

function read(text: string, seq: number, at: number): WatchEvent {
  let raw: RawEvent = {};
  try {
    raw = JSON.parse(text) as RawEvent;
  } catch {
    // Shown as it came, with no type.
  }
  const object = raw.object?.kind === 'Table' ? raw.object.rows?.[0]?.object : raw.object;
  const word = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    seq,
    at,
    type: word(raw.type) || 'UNREADABLE',
    kind: word(object?.kind),
    namespace: word(object?.metadata?.namespace),
    name: word(object?.metadata?.name),
    resourceVersion: word(object?.metadata?.resourceVersion),
    message: raw.type === 'ERROR' ? word(object?.message) : '',
    text,
  };
}
