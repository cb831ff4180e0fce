// A plain HTTP server in front of an engine, for programs that speak HTTP and not fetch events.

import { createServer } from 'node:http';
import { WINDOW } from './engine.mjs';

/**
 * Serves the engine on a socket.
 *
 * @param {import('./engine.mjs').Engine} engine
 * @param {{host?: string, port?: number}} [address] loopback and any free port by default
 * @returns {Promise<{url: string, close(): Promise<void>}>}
 * @throws {Error} with code EADDRINUSE and the like
 */
export async function serve(engine, { host = '127.0.0.1', port = 0 } = {}) {
  // Header limits are the bridge's to enforce, which answers as net/http does. An idle connection stays open: to be
  // closed while a request is on its way, as one is when Go has been busy for seconds, is an error to the client.
  const server = createServer({ maxHeaderSize: 2 << 20, keepAlive: true, keepAliveTimeout: 0 }, (req, res) => handle(engine, req, res));
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { address, family, port: bound } = server.address();
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function handle(engine, req, res) {
  const length = req.headers['content-length'];
  const hasBody = length === undefined ? req.headers['transfer-encoding'] !== undefined : Number(length) !== 0;
  let stream;
  // One chunk of the body is under way at a time, so the request is paused until Go has read it. An answer may be there
  // before any of it has been sent.
  if (hasBody) {
    req.on('data', (bytes) => {
      req.pause();
      stream.body(bytes);
    });
    req.on('end', () => stream.body(null));
  }
  try {
    const body = hasBody ? 'follows' : null;
    stream = engine.open({ method: req.method, url: req.url, headers: req.rawHeaders, body, window: WINDOW }, answer(req, res, (n) => stream.credit(n)));
  } catch (error) {
    refuse(res, 503, error.message);
    req.removeAllListeners('end');
    return drain(req);
  }
  res.on('close', () => stream.cancel());
}

// What the engine calls for one request, while Go runs.
function answer(req, res, credit) {
  let full = 0; // bytes that the connection has no room for yet
  let granted = 0; // bytes of the next call of credit
  // In a later turn of Node's, and once for all pieces until then: each call gives Go a turn, and where somebody prints without
  // end no other request would be read meanwhile.
  const grant = (n) => {
    if (!granted) {
      setImmediate(() => {
        const sum = granted;
        granted = 0;
        credit(sum);
      });
    }
    granted += n;
  };
  return {
    head(status, headers) {
      res.writeHead(status, headers);
      // A response that is complete by the time Go rests goes out in one packet; of one that is not (a
      // watch), the head goes at once.
      queueMicrotask(() => {
        if (!res.writableEnded && !res.destroyed) res.flushHeaders();
      });
    },
    chunk(bytes) {
      if (res.write(bytes)) return grant(bytes.length);
      if (!full) {
        res.once('drain', () => {
          grant(full);
          full = 0;
        });
      }
      full += bytes.length;
    },
    end() {
      res.end();
      drain(req);
    },
    abort(message) {
      if (res.headersSent) res.destroy();
      else refuse(res, 500, message);
      drain(req);
    },
    pull: () => req.resume(),
  };
}

// Takes what is left of a body that the engine did not want: a client that is still sending would not
// look for the answer, and the connection would be closed under it.
function drain(req) {
  req.removeAllListeners('data');
  req.resume();
}

function refuse(res, code, message) {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code };
  res.writeHead(code, { 'Content-Type': 'application/json' });
  res.end(JSON.stringify(status));
}
