// Gives a program what an earlier one has kept. A call into Go has it do whatever there is to do before it returns, so one
// for each of a thousand entries would take as long as the rest of a visit's start.

/** Bytes of records after which a call is made. */
const BATCH = 1 << 20;

/**
 * @param {{kept(names: string, sizes: string, records: Uint8Array): void}} engine kubetabEngine
 * @param {Iterable<readonly [name: string, record: Uint8Array]>} entries in their order
 */
export function giveBack(engine, entries) {
  let names = [];
  let records = [];
  let size = 0;
  const give = () => {
    if (names.length === 0) return;
    const all = new Uint8Array(size);
    let at = 0;
    for (const record of records) {
      all.set(record, at);
      at += record.byteLength;
    }
    engine.kept(names.join('\n'), records.map((record) => record.byteLength).join(' '), all);
    names = [];
    records = [];
    size = 0;
  };
  for (const [name, record] of entries) {
    names.push(name);
    records.push(record);
    size += record.byteLength;
    if (size >= BATCH) give();
  }
  give();
}
