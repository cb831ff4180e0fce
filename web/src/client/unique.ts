/** A name that nobody else has. `crypto.randomUUID` is missing where the page came over plain HTTP from another machine. */
export function uniqueName(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
