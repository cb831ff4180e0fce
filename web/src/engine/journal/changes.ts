export interface KeptChange {
  readonly name: string;
  /** Null to forget. */
  readonly record: Uint8Array | null;
  readonly superseded: readonly string[];
}

/** What is to be written to the records of a base. */
export type Change =
  | KeptChange
  /** All of another snapshot. */
  | { readonly forget: string };

/** The same state with one change for each name at most. */
export function settled(changes: readonly Change[]): Change[] {
  const forgotten: Change[] = [];
  const last = new Map<string, Uint8Array | null>();
  for (const change of changes) {
    if ('forget' in change) {
      forgotten.push(change);
      continue;
    }
    for (const old of change.superseded) last.set(old, null);
    last.set(change.name, change.record);
  }
  const named = [...last].map(([name, record]) => ({ name, record, superseded: [] }));
  return [...forgotten, ...named];
}
