// Measures in Chromium how long a visitor waits, and what the page weighs. Prints JSON.
//
//   node build/measure.mjs http://127.0.0.1:8080/ [rounds]
//
// First visit: a new profile. Reload: the same profile in a browser started anew, because the engine of a page that is
// merely reloaded is still there.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { launchSettled } from './chromium.mjs';
import { measureFanOut, measureLoad } from './load.mjs';

const [url, rounds = '1'] = process.argv.slice(2);
if (!url) {
  console.error('measure: give the address of the page, such as http://127.0.0.1:8080/');
  process.exit(1);
}

const results = [];
let load;
let fanOut;
for (let round = 0; round < Number(rounds); round++) {
  const profile = await mkdtemp(join(tmpdir(), 'kubetab-measure-'));
  results.push({ first: await visit(profile), reload: await visit(profile, round === 0) });
  await rm(profile, { recursive: true, force: true });
}
const { files, module } = JSON.parse(
  await readFile(resolve(import.meta.dirname, '../dist/manifest.json'), 'utf8'),
);
console.log(JSON.stringify({ visits: results, load, fanOut, module, files }, null, 2));

/** Milliseconds from the start of the navigation until /readyz is ok, and what the engine says of its own start. */
async function visit(profile, loaded = false) {
  const page = await launchSettled(profile);
  try {
    const began = Date.now();
    await page.goto(url);
    const readyz = await page.evaluate(async () => {
      while (!document.querySelector('.pill.is-ready')) await new Promise(requestAnimationFrame);
      await navigator.serviceWorker.ready;
      return (await fetch('readyz')).text();
    });
    const ms = Date.now() - began;
    const engine = await page.evaluate(async () => ({
      ...window.kubetab.state,
      ...(await window.kubetab.stats()),
    }));
    if (loaded) {
      load = await measureLoad(page);
      fanOut = await measureFanOut(page);
    }
    // What the browser keeps of compiled code it writes some seconds after the start, and only then.
    await new Promise((resolve) => setTimeout(resolve, 6000));
    return { ms, readyz, engine };
  } finally {
    await page.close();
  }
}
