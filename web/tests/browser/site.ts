import { randomUUID } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize, relative, resolve } from 'node:path';
import { inject } from 'vitest';
import { headersOf, originsIn } from '../../headers/headers.mjs';
import { LARGE, SPARING } from './sparing';

const web = resolve(import.meta.dirname, '../..');
const dist = join(web, 'dist');

/** The built page on a loopback address, as it is served in production. */
export interface Site {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * The site that all files of a run share: served by bin/kubetab (served.ts) where it has been built, else, and for each
 * file its own, by the few lines below, which send the same headers.
 */
export async function openSite(): Promise<Site> {
  const url = inject('site');
  return url ? { url, close: async () => {} } : plain();
}

/** What is changed on its way. */
interface Changes {
  /** The paths that have a copy of the page. */
  readonly folders?: readonly string[];
  /** The service worker, to stand for another version of it. */
  readonly worker?: (text: string, folder: string) => string;
  /** The document. */
  readonly document?: (text: string) => string;
  /** The snapshot; null is a 404. */
  readonly snapshot?: (bytes: Buffer) => Buffer | null;
  /** The module passes it. */
  readonly gate?: Gate;
  /** What is added to the content security policy. */
  readonly policy?: string;
  /** Whether the engine travels compressed, as in production. */
  readonly compressed?: boolean;
  /** Whether a part of the module can be had that a page begins without; when it cannot, its connection is cut. */
  readonly hasPart?: (part: 'soon' | 'rest') => boolean;
}

/** Holds the module back while it is closed, so that no engine becomes ready. Open at first. */
export class Gate {
  #open = true;
  #waiting: (() => void)[] = [];

  close(): void {
    this.#open = false;
  }

  open(): void {
    this.#open = true;
    for (const go of this.#waiting) go();
    this.#waiting = [];
  }

  pass(go: () => void): void {
    if (this.#open) go();
    else this.#waiting.push(go);
  }
}

/** Sends the headers of the page and content codings as bin/kubetab does. */
export async function plain({
  folders = ['/'],
  worker,
  document,
  snapshot,
  gate,
  hasPart,
  compressed = !SPARING,
  policy: added = '',
}: Changes = {}): Promise<Site> {
  if (!existsSync(join(dist, 'index.html'))) {
    throw new Error('web/dist is missing. Run `npm run build -w web` first.');
  }
  const server = createServer((request, response) => {
    const asked = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname);
    const [folder = '/nowhere/'] = folders
      .filter((each) => asked.startsWith(each))
      .sort((a, b) => b.length - a.length);
    const path = asked.startsWith(folder) ? asked.slice(folder.length - 1) : folder;
    const file = join(dist, normalize(path === '/' ? '/index.html' : path));
    for (const [name, value] of Object.entries(headersOf(relative(dist, file), originsIn()))) {
      response.setHeader(name, name === 'Content-Security-Policy' ? value + added : value);
    }
    // make profile: which functions of the module have been called.
    if (process.env.KUBETAB_CALLED && request.method === 'POST' && path === '/called') {
      const file = join(process.env.KUBETAB_CALLED, `${randomUUID()}.json`);
      let text = '';
      request.on('data', (piece) => {
        text += piece;
      });
      request.once('end', () => {
        writeFileSync(file, text);
        response.end();
      });
      return;
    }
    if (!file.startsWith(dist) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Not Found\n');
      return;
    }
    if (worker && path === '/sw.js') {
      response.end(worker(readFileSync(file, 'utf8'), folder));
      return;
    }
    if (document && path === '/') {
      response.end(document(readFileSync(file, 'utf8')));
      return;
    }
    if (snapshot && path.endsWith('.snapshot')) {
      const bytes = snapshot(readFileSync(file));
      response.writeHead(bytes ? 200 : 404).end(bytes ?? 'Not Found\n');
      return;
    }
    const part = path.match(/\.(soon|rest)\.wasm$/)?.[1] as 'soon' | 'rest' | undefined;
    if (part && hasPart?.(part) === false) {
      request.destroy();
      return;
    }
    const isWhole = !compressed && LARGE.test(path);
    const brotli = !isWhole && /\bbr\b/.test(String(request.headers['accept-encoding'] ?? ''));
    const sent = brotli && existsSync(`${file}.br`) ? `${file}.br` : file;
    if (sent !== file) response.setHeader('Content-Encoding', 'br');
    response.setHeader('Content-Length', statSync(sent).size);
    const send = () => createReadStream(sent, { highWaterMark: 1 << 20 }).pipe(response);
    if (gate && path.endsWith('.wasm')) gate.pass(send);
    else send();
  });
  return new Promise((done) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      done({
        url: `http://127.0.0.1:${port}/`,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
}
