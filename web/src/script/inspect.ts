/** Of a list or a map, and of levels within levels. */
const MOST_ENTRIES = 100;
const MOST_LEVELS = 4;
/** In columns: what is longer stands in lines of its own. */
const WIDTH = 76;

/**
 * What console.log prints: text as it is, and anything else as one would write it. The first argument may have the
 * specifiers of https://console.spec.whatwg.org/#formatter, of which %c prints nothing.
 */
export function format(values: readonly unknown[]): string {
  const [first, ...rest] = values;
  if (typeof first !== 'string' || rest.length === 0) return values.map(shown).join(' ');
  const text = first.replace(/%[sdifoOjc%]/g, (specifier) => {
    if (specifier === '%%') return '%';
    if (rest.length === 0) return specifier;
    const value = rest.shift();
    switch (specifier) {
      case '%d':
      case '%f':
        return String(Number(value));
      case '%i':
        return String(Math.trunc(Number(value)));
      case '%c':
        return '';
      case '%s':
        return shown(value);
      default:
        return inspect(value);
    }
  });
  return [text, ...rest.map(shown)].join(' ');
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : inspect(value);
}

/** A value as one would write it in JavaScript, as Node prints it. Never throws. */
export function inspect(value: unknown): string {
  try {
    return write(value, 0, []);
  } catch (error) {
    return `[${error}]`; // a getter or a proxy of the script's
  }
}

function write(value: unknown, level: number, outer: readonly object[]): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function')
    return `[${value.name ? `Function: ${value.name}` : 'Function'}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Error) return errorText(value);
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
  if (value instanceof RegExp || value instanceof URL) return String(value);
  if (outer.includes(value)) return '[Circular]';
  const name = nameOf(value);
  if (level > MOST_LEVELS) return Array.isArray(value) ? '[Array]' : `[${name || 'Object'}]`;
  const inner = (each: unknown) => write(each, level + 1, [...outer, value]);
  if (Array.isArray(value)) return enclosed('', '[', entries(value, inner), ']', level);
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const list = [...(value as Uint8Array).subarray(0, MOST_ENTRIES + 1)];
    return enclosed(
      `${name}(${(value as Uint8Array).length}) `,
      '[',
      entries(list, inner),
      ']',
      level,
    );
  }
  if (value instanceof Map) {
    const pairs = entries([...value], ([key, of]) => `${inner(key)} => ${inner(of)}`);
    return enclosed(`Map(${value.size}) `, '{', pairs, '}', level);
  }
  if (value instanceof Set) {
    return enclosed(`Set(${value.size}) `, '{', entries([...value], inner), '}', level);
  }
  if (value instanceof Headers) {
    const pairs = entries([...value], ([key, of]) => `${property(key)}: ${inner(of)}`);
    return enclosed('Headers ', '{', pairs, '}', level);
  }
  if (value instanceof Response) {
    const { status, url, headers } = value;
    const pairs = entries(
      Object.entries({ status, url, headers }),
      ([k, of]) => `${k}: ${inner(of)}`,
    );
    return enclosed('Response ', '{', pairs, '}', level);
  }
  const pairs = entries(Object.entries(value), ([key, of]) => `${property(key)}: ${inner(of)}`);
  return enclosed(name && name !== 'Object' ? `${name} ` : '', '{', pairs, '}', level);
}

/** Its stack, which only some browsers begin with the message. */
function errorText(error: Error): string {
  const text = String(error);
  const stack = (error.stack ?? '').trimEnd();
  return stack.startsWith(text) ? stack : stack ? `${text}\n${stack}` : text;
}

function nameOf(value: object): string {
  return (Object.getPrototypeOf(value) as object | null)?.constructor?.name ?? '';
}

function entries<T>(list: readonly T[], text: (each: T) => string): string[] {
  const found = list.slice(0, MOST_ENTRIES).map(text);
  const more = list.length - found.length;
  return more > 0 ? [...found, `... ${more} more`] : found;
}

function enclosed(
  name: string,
  open: string,
  parts: readonly string[],
  close: string,
  level: number,
): string {
  if (parts.length === 0) return `${name}${open}${close}`;
  const line = `${name}${open} ${parts.join(', ')} ${close}`;
  if (line.length <= WIDTH - 2 * level && !line.includes('\n')) return line;
  const indent = '  '.repeat(level + 1);
  return `${name}${open}\n${indent}${parts.join(`,\n${indent}`)}\n${indent.slice(2)}${close}`;
}

function property(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key);
}

function quoted(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return inner.includes("'") ? JSON.stringify(text) : `'${inner}'`;
}
