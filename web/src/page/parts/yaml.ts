/** Loads the YAML library when it is first needed: it is a chunk of its own. */
let chunk: Promise<typeof import('yaml')> | null = null;

export function loadYaml(): Promise<typeof import('yaml')> {
  chunk ??= import('yaml');
  return chunk;
}

/** How Kubernetes' own tools lay YAML out: long lines are not folded, lists are not indented. */
export const STYLE = { lineWidth: 0, indentSeq: false, aliasDuplicateObjects: false } as const;
