// A line of a given width and length, as a proxy of TCP on loopback: what a visitor far from the server has.
import { connect, createServer } from 'node:net';

/** Bytes that travel as one. Pieces of several connections take turns. */
const PIECE = 8 << 10;
/** How much a connection may have waiting before its server is asked to wait, in bytes. */
const WAITING = 128 << 10;

/**
 * Opens a line to a server on loopback. All connections share its width in the direction of the visitor; in the other one
 * only the time to travel counts, because requests are small. A connection costs one round trip, as TCP's does; the slow
 * start of a real one is not there.
 *
 * @param {number} port of the server
 * @param {{mbit: number, rtt: number}} line megabits (10^6) a second, and milliseconds there and back
 * @returns {Promise<{port: number, bytes(): number, close(): void}>} bytes: how many have reached the visitor
 */
export async function openLine(port, { mbit, rtt }) {
  const msPerByte = 8 / (mbit * 1000);
  const queue = []; // pieces in the order in which they set out
  let free = 0; // when the line has sent what was given to it, as performance.now() tells it
  let arrived = 0;
  let timer;

  /** Lets those set out whose turn it is, and those arrive that have travelled. */
  const turn = () => {
    timer = undefined;
    const now = performance.now();
    while (queue.length && queue[0].at <= now) {
      const { piece, to, from } = queue.shift();
      arrived += piece.length;
      to.waiting -= piece.length;
      if (!to.socket.destroyed) to.socket.write(piece);
      if (to.waiting < WAITING) from.resume();
      if (to.over && to.waiting === 0) to.socket.end();
    }
    if (queue.length) timer = setTimeout(turn, Math.max(0, queue[0].at - performance.now()));
  };

  const send = (data, to, from) => {
    for (let i = 0; i < data.length; i += PIECE) {
      const piece = data.subarray(i, i + PIECE);
      free = Math.max(free, performance.now()) + piece.length * msPerByte;
      queue.push({ at: free + rtt / 2, piece, to, from });
      to.waiting += piece.length;
    }
    if (to.waiting >= WAITING) from.pause();
    timer ??= setTimeout(turn, 0);
  };

  const sockets = new Set();
  const server = createServer((socket) => {
    const from = connect(port, '127.0.0.1');
    const to = { socket, waiting: 0, over: false };
    const opened = performance.now() + rtt; // SYN and its answer
    for (const each of [socket, from]) {
      sockets.add(each);
      each.setNoDelay(true);
      each.on('error', () => {}); // its end is told by close
      each.on('close', () => sockets.delete(each));
    }
    socket.on('data', (data) => {
      const wait = Math.max(opened - performance.now(), 0) + rtt / 2;
      setTimeout(() => from.writable && from.write(data), wait);
    });
    socket.on('close', () => from.destroy());
    from.on('data', (data) => send(data, to, from));
    from.on('end', () => {
      to.over = true;
      if (to.waiting === 0) socket.end();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: server.address().port,
    bytes: () => arrived,
    close() {
      clearTimeout(timer);
      server.close();
      for (const each of sockets) each.destroy();
    },
  };
}
