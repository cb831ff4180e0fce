// When Go's timers ring. Needs neither Node nor a browser.

// A program that nobody has asked anything for so long, in ms, has its timers ring together, at multiples of so many ms.
const GRIDS = [
  { quiet: 60_000, grid: 1000 },
  { quiet: 2000, grid: 250 },
];

/**
 * Calls back after what JavaScript already has to do. A timer of 0 ms would do, but browsers make each that a timer sets wait
 * for 4 ms.
 *
 * @type {(call: () => void) => void}
 */
export const soon = globalThis.setImmediate ?? throughChannel();

function throughChannel() {
  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port1.onmessage = () => waiting.shift()();
  return (call) => {
    waiting.push(call);
    port2.postMessage(null);
  };
}

/**
 * Has the timers of a program ring together while it is idle. Work queues, watch caches and whoever else looks whether
 * there is something to do would wake an idle engine a hundred times in a second, and the machine with it. A timer is
 * late by at most the grid then, as on a machine that is busy; while requests come, timers are exact. A timer of 0 ms is Go
 * asking to be called again as soon as JavaScript has had its turn (see runtime/lock_js.go in wasm/patch).
 *
 * To be called before the module is instantiated with go.importObject.
 *
 * @param {object} go
 * @returns {() => void} to be called with each request
 */
export function coarseWhileIdle(go) {
  let asked = performance.now();
  const wait = (delay) => {
    const now = performance.now();
    const grid = GRIDS.find(({ quiet }) => now - asked >= quiet)?.grid;
    return grid === undefined ? delay : Math.ceil((now + delay) / grid) * grid - now;
  };
  // As in wasm_exec.js but for wait.
  go.importObject.gojs['runtime.scheduleTimeoutEvent'] = (sp) => {
    const id = go._nextCallbackTimeoutID++;
    const delay = Number(go.mem.getBigInt64((sp >>> 0) + 8, true));
    const ring = () => {
      if (go._scheduledTimeouts.has(id)) go._resume();
      while (go._scheduledTimeouts.has(id)) go._resume(); // once more where Go looked too early
    };
    if (delay === 0) {
      go._scheduledTimeouts.set(id, null); // clearTimeout(null) does nothing
      soon(ring);
    } else {
      go._scheduledTimeouts.set(id, setTimeout(ring, wait(delay)));
    }
    go.mem.setInt32((sp >>> 0) + 16, id, true);
  };
  return () => {
    asked = performance.now();
  };
}
