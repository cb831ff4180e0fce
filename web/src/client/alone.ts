import type { BeginAlone, Beginning } from '../protocol';
import { ALONE } from './cluster-names';

/**
 * Starts an engine in a dedicated worker that is this page's alone and keeps nothing. A control port is handed to it with
 * `worker.postMessage(port, [port])`.
 *
 * Browsers refuse a worker whose script is of another origin, and everything is of another origin than a frame with the
 * attribute sandbox. The worker is then a blob that imports the script, which the script's host must allow with
 * `Access-Control-Allow-Origin`. The blob is no module: Chromium starts no module worker from a blob without an origin.
 *
 * @param script address of the engine worker's script
 * @throws what `new Worker` throws; a script that cannot be loaded is an error event of the worker
 */
export function startAlone(script: URL, beginning: Beginning): Worker {
  const worker =
    script.origin === self.origin
      ? new Worker(script, { type: 'module', name: ALONE })
      : new Worker(importing(script), { name: ALONE });
  worker.postMessage({ ...beginning, type: 'begin' } satisfies BeginAlone);
  return worker;
}

/** The address of a blob; it stays as long as this page does, because browsers differ in when they look it up. */
function importing(script: URL): string {
  // What is said to the worker before the script is there waits for it.
  const source = `const early = [];
onmessage = (event) => early.push(event);
import(${JSON.stringify(script.href)}).then(
  () => { onmessage = null; for (const event of early) dispatchEvent(event); },
  (error) => setTimeout(() => { throw error; }),
);`;
  return URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
}
