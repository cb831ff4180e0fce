import { FROM, NO_NAMES, SETTINGS, spelled, summed } from './database';
import type { Found } from './found';

/** Up to how many bytes of a cluster are kept here, too. One of a thousand ConfigMaps has two million. */
const MOST = 32_000_000;

/** A cluster's records as the database has them, for when the browser deletes it. */
export class Mirror {
  #records: Map<string, Uint8Array> | null = new Map();
  #bytes = 0;

  /** Entries by their names, settings and base with them; null when they are more than MOST bytes. */
  get records(): ReadonlyMap<string, Uint8Array> | null {
    return this.#records;
  }

  begin({ settings, from, entries }: Found): void {
    this.#records = new Map();
    this.#bytes = 0;
    if (!from) return;
    this.note(SETTINGS, spelled(settings));
    this.note(FROM, spelled(from));
    for (const [name, record] of entries) this.note(name, record);
  }

  /** @param record null for one that is deleted */
  note(name: string, record: Uint8Array | null): void {
    if (!this.#records) return;
    this.#bytes += (record?.byteLength ?? 0) - (this.#records.get(name)?.byteLength ?? 0);
    if (record) this.#records.set(name, record);
    else this.#records.delete(name);
    if (this.#bytes > MOST) this.#records = null;
  }
}

/** What is to be stored of a cluster's entries beside them: their size, and the sum of their names. */
export class Tally {
  bytes = 0;
  sum = NO_NAMES;
  readonly #sizes = new Map<string, number>();

  begin(entries: Found['entries']): void {
    this.#sizes.clear();
    this.bytes = 0;
    this.sum = NO_NAMES;
    for (const [name, record] of entries) this.note(name, record);
  }

  /** @param record null for one that is deleted */
  note(name: string, record: Uint8Array | null): void {
    if (name === SETTINGS || name === FROM) return;
    this.bytes += (record?.byteLength ?? 0) - (this.#sizes.get(name) ?? 0);
    if (this.#sizes.has(name) !== (record !== null)) {
      this.sum = summed(this.sum, name, record ? 1 : -1);
    }
    if (record) this.#sizes.set(name, record.byteLength);
    else this.#sizes.delete(name);
  }
}
