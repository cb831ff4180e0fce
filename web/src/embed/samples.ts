/*
 * Files that lines name by an address, and that are blocks of the page: there is no network for what runs, so that
 * `kubectl apply -f https://k8s.io/examples/application/deployment.yaml` gets the page's own text.
 */

const samples = new Map<string, { readonly code: string }>();

/** @param holder has the text as it is when it is needed */
export function keepSample(name: string, holder: { readonly code: string }): void {
  samples.set(name, holder);
}

/** The name that a page gives a block: kubernetes.io's samples have it in a link to the file. */
export function nameOf(code: Element): string {
  const link = code.closest('.code-sample')?.querySelector('a[download]');
  const name =
    link?.getAttribute('download') ?? code.closest('[data-file]')?.getAttribute('data-file');
  return /^[\w.-]+(\/[\w.-]+)*$/.test(name ?? '') ? (name ?? '') : '';
}

const ADDRESS = /https?:\/\/[\w.:-]+\/[\w./-]+/g;

/** Names and texts of the files that lines need. */
export function samplesIn(lines: string): [string, string][] {
  const found = new Map<string, string>();
  for (const [address] of lines.matchAll(ADDRESS)) {
    for (const [name, { code }] of samples) if (address.endsWith(`/${name}`)) found.set(name, code);
  }
  return [...found];
}

/** Lines with the names of files in place of their addresses. */
export function localFiles(lines: string): string {
  return lines.replace(ADDRESS, (address) => {
    for (const name of samples.keys()) if (address.endsWith(`/${name}`)) return name;
    return address;
  });
}
