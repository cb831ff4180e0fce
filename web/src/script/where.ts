/**
 * The path below the API server's root that an address of a script means, with its query; null for one of another site.
 * `/api/v1/pods` is the cluster's wherever the site lies.
 *
 * @param scope the site's folder
 */
export function pathOf(address: string, scope: URL): string | null {
  const isPath = address.startsWith('/') && !address.startsWith('//');
  const url = new URL(address, scope);
  if (url.origin !== scope.origin) return null;
  const path = url.pathname + url.search;
  if (url.pathname.startsWith(scope.pathname)) return path.slice(scope.pathname.length - 1);
  return isPath ? path : null;
}

/** The frames of a script in the stack of an error, with the script's name in place of its address. */
export function ownStack(stack: string, address: string, name: string): string {
  return stack
    .split('\n')
    .filter((line, at) => at === 0 || line.includes(address) || !/^\s*at |@/.test(line))
    .map((line) => line.replaceAll(address, name))
    .join('\n');
}

/** The first line of a script in a stack, in which it has this address; 0 when it is not there. */
export function lineIn(stack: string, address: string): number {
  const at = stack.indexOf(`${address}:`);
  return at < 0 ? 0 : Number.parseInt(stack.slice(at + address.length + 1), 10) || 0;
}
