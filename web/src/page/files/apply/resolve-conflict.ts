import type { Document } from 'yaml';
import { loadYaml } from '../../parts/yaml';
import { type ManifestDocument, resolve, stepsOf } from '../language/documents';
import type { Applied, Conflict } from './apply';

/** Takes the fields out of the document, with maps and lists that are empty then; its comments and layout stay. */
export async function withoutFields(
  file: string,
  document: ManifestDocument,
  conflicts: readonly Conflict[],
): Promise<string> {
  return changed(file, document, (yaml) => {
    for (const { field } of conflicts) {
      const path = resolve(document.object, stepsOf(field));
      if (path.length < stepsOf(field).length) continue;
      yaml.deleteIn(path);
    }
  });
}

/** Gives the fields the values that they have in the cluster. */
export async function withValuesOf(
  file: string,
  document: ManifestDocument,
  conflicts: readonly Conflict[],
  live: Applied,
): Promise<string> {
  return changed(file, document, (yaml) => {
    for (const { field } of conflicts) {
      const steps = stepsOf(field);
      const path = resolve(document.object, steps);
      const there = resolve(live, steps);
      if (path.length < steps.length || there.length < steps.length) continue;
      yaml.setIn(path, valueAt(live, there));
    }
  });
}

async function changed(
  file: string,
  document: ManifestDocument,
  change: (yaml: Document) => void,
): Promise<string> {
  const { parseDocument } = await loadYaml();
  // Of this document only: what stands around it in the file is not touched.
  const yaml = parseDocument(document.text) as Document;
  change(yaml);
  const text = yaml.toString({ lineWidth: 0 });
  return file.slice(0, document.from) + text + file.slice(document.to);
}

function valueAt(object: unknown, path: readonly (string | number)[]): unknown {
  let at = object;
  for (const step of path) at = (at as Record<string | number, unknown>)[step];
  return at;
}
