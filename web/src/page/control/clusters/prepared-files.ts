/// <reference types="vite/client" />

/** The manifests of tutorials/clusters, by `name/file.yaml` in the order in which they are applied. A chunk of its own. */
const files = Object.entries(
  import.meta.glob<string>('../../../../../tutorials/clusters/*/*.yaml', {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
)
  .map(([path, text]) => ({ path: path.split('/').slice(-2).join('/'), text }))
  .sort((a, b) => (a.path < b.path ? -1 : 1));

export function filesOf(name: string): readonly { readonly path: string; readonly text: string }[] {
  return files.filter(({ path }) => path.startsWith(`${name}/`));
}
