import type { Draft } from './draft';

/**
 * The request as a command for a terminal. A terminal cannot reach into a tab, so the command goes to the address
 * of `kubectl proxy`, where the same request works against any cluster.
 */
export function asCurl({ method, path, headers, body }: Draft): string {
  const parts = ['curl'];
  if (method !== 'GET') parts.push(`-X ${method}`);
  if (/[?&]watch/.test(path)) parts.push('-N');
  parts.push(quoted(`http://127.0.0.1:8001${path}`));
  for (const { name, value } of headers) {
    if (name) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  }
  if (body) parts.push(`--data-binary ${quoted(body)}`);
  return parts.join(' \\\n  ');
}

/** The request for the browser's own console. */
export function asFetch({ method, path, headers, body }: Draft): string {
  const named = headers.filter(({ name }) => name);
  const fields: string[] = [];
  if (method !== 'GET') fields.push(`  method: ${JSON.stringify(method)},`);
  if (named.length > 0) {
    const lines = named.map(
      ({ name, value }) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`,
    );
    fields.push('  headers: {', ...lines, '  },');
  }
  if (body) fields.push(`  body: ${JSON.stringify(body)},`);
  const relative = JSON.stringify(path.replace(/^\//, ''));
  if (fields.length === 0) return `await fetch(${relative})`;
  return [`await fetch(${relative}, {`, ...fields, '})'].join('\n');
}

/** For a POSIX shell: within single quotes nothing but a single quote has a meaning. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
