// The Worker: files of the page, and the share store in Go (main_js.go).
//
// Most files of the page are larger than the host takes, 25 MiB, and only their compressed variants are there. A variant is
// sent as it is. Nothing here compresses or inflates.
import { headersOf } from './headers.mjs';
import store from './store/worker.mjs';

const CODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
];

export default {
  /**
   * @param {Request} request
   * @param {{ASSETS: {fetch(request: Request): Promise<Response>}}} env
   */
  fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname === '/s' || pathname.startsWith('/s/')) return kept(request, env, context);
    return page(request, env, pathname);
  },
};

/** The library waits for as much of a body as its header says, which an answer to HEAD does not have. */
async function kept(request, env, context) {
  if (request.method !== 'HEAD') return store.fetch(request, env, context);
  const answer = await store.fetch(new Request(request, { method: 'GET' }), env, context);
  await answer.body?.cancel();
  return new Response(null, answer);
}

async function page(request, env, pathname) {
  if (!/^(GET|HEAD)$/.test(request.method)) return failed(405, { Allow: 'GET, HEAD' });
  const name = pathname === '/' ? 'index.html' : pathname.slice(1);
  if (/\.(br|gz)$/.test(name) || /(^|\/)[._]/.test(name)) return failed(404);
  const headers = new Headers(headersOf(name));
  headers.set('Vary', 'Accept-Encoding');
  // The page asks itself whether there is a store: see share.Header.
  if (name === 'index.html') headers.set('Kubetab-Share', 's');
  const accepted = accepts(request);
  let isThere = false;
  for (const { name: coding, suffix } of [...CODINGS, { name: '', suffix: '' }]) {
    const found = await asset(request, env, name + suffix);
    if (!found) continue;
    isThere = true;
    if (coding && !accepted(coding)) {
      await found.body?.cancel();
      continue;
    }
    if (coding) headers.set('Content-Encoding', coding);
    const tag = found.headers.get('ETag');
    if (tag) headers.set('ETag', tag);
    const { status } = found;
    return new Response(found.body, {
      status,
      headers,
      encodeBody: coding ? 'manual' : 'automatic',
    });
  }
  return failed(isThere ? 406 : 404);
}

/** A file of the host, or nothing. */
async function asset(request, env, name) {
  const headers = new Headers();
  const tags = request.headers.get('If-None-Match');
  if (tags) headers.set('If-None-Match', tags);
  const { method } = request;
  const found = await env.ASSETS.fetch(
    new Request(new URL(`/${name}`, request.url), { method, headers }),
  );
  if (found.ok || found.status === 304) return found;
  await found.body?.cancel();
  return null;
}

/** Whether the browser takes a coding; the host tells what the browser said in a place of its own. */
function accepts(request) {
  const said = request.cf?.clientAcceptEncoding ?? request.headers.get('Accept-Encoding') ?? '';
  const weights = new Map(
    said
      .toLowerCase()
      .split(',')
      .map((each) => {
        const [coding, weight] = each.split(';').map((part) => part.trim());
        return [coding, Number(weight?.replace(/^q=/, '') ?? 1)];
      }),
  );
  return (coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0;
}

function failed(status, more = {}) {
  const headers = {
    ...headersOf(''),
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    ...more,
  };
  return new Response(`${status}\n`, { status, headers });
}
