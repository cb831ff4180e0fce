// Gives a script in Node the fetch that it has in the page: an address that begins with a slash is the API server's.
//
//   kubectl proxy --port 8001 &
//   KUBETAB_API=http://127.0.0.1:8001 node --no-warnings --import ./tutorials/play/node.mjs mirror.js
const api = new URL(process.env.KUBETAB_API ?? 'http://127.0.0.1:8001');
const anywhere = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input, api);
  if (url.origin !== api.origin) return anywhere(input, init);
  const request = new Request(input instanceof Request ? input : url, init);
  request.headers.set('Kubetab-Client', 'script');
  // As in the page, where nothing is compressed on its way.
  if (!request.headers.has('Accept-Encoding')) request.headers.set('Accept-Encoding', 'identity');
  return anywhere(request);
};
