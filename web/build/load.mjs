// What the bench does in the page, through the service worker: plain fetch, one request after the other, as a visitor's
// own script would.

const CONFIG_MAPS = 1000;

/**
 * Runs in a page whose engine is ready.
 *
 * @param {import('playwright-core').Page} page
 * @returns {Promise<{http: {what: string, p50_ms: number, p99_ms: number, samples: number}[], linearBytes: number}>}
 */
export async function measureLoad(page) {
  return await page.evaluate(async (count) => {
    const path = 'api/v1/namespaces/default/configmaps';
    const percentile = (sorted, p) =>
      sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))];
    const row = (what, times) => {
      times.sort((a, b) => a - b);
      return {
        what,
        p50_ms: percentile(times, 50),
        p99_ms: percentile(times, 99),
        samples: times.length,
      };
    };
    const ask = async (url, init) => {
      const answer = await fetch(url, init);
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${init?.method ?? 'GET'} ${url}: ${answer.status} ${text}`);
      return text;
    };
    const time = async (n, act) => {
      const times = [];
      for (let i = 0; i < n; i++) {
        const began = performance.now();
        await act(i);
        times.push(performance.now() - began);
      }
      return times;
    };
    const json = { 'content-type': 'application/json' };
    const create = (name) =>
      ask(path, {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ metadata: { name }, data: { key: 'value' } }),
      });

    await navigator.serviceWorker.ready;
    await time(50, (i) => create(`warm-${i}`));
    const rows = [];
    rows.push(row('create', await time(count, (i) => create(`bench-${i}`))));
    rows.push(row('get', await time(count, (i) => ask(`${path}/bench-${i}`))));
    rows.push(row(`list of ${count + 50}`, await time(20, () => ask(path))));

    // A watch that is open while each write is made; an event counts when its line has been read.
    const stop = new AbortController();
    const watch = await fetch(`${path}?watch=1&resourceVersion=0&labelSelector=bench%3Dwatch`, {
      signal: stop.signal,
    });
    const lines = (async function* () {
      const reader = watch.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        const end = text.indexOf('\n');
        if (end >= 0) {
          yield text.slice(0, end);
          text = text.slice(end + 1);
          continue;
        }
        const { value, done } = await reader.read();
        if (done) return;
        text += value;
      }
    })();
    const events = await time(200, async (i) => {
      const body = JSON.stringify({
        metadata: { name: `watched-${i}`, labels: { bench: 'watch' } },
      });
      const written = ask(path, { method: 'POST', headers: json, body });
      const { value } = await lines.next();
      if (!value.includes(`watched-${i}`))
        throw new Error(`another event than the one awaited: ${value}`);
      await written;
    });
    stop.abort();
    rows.push(row('write to watch event', events));
    return { http: rows, linearBytes: (await window.kubetab.stats()).linearBytes };
  }, CONFIG_MAPS);
}
