// What the bench does in the page, through the service worker: plain fetch, one request after the other, as a visitor's
// own script would.

const CONFIG_MAPS = 1000;
const LONG_LIST = 5000;

/** Many readers of one collection, as many views of a cluster are: each write is an event for every one of them. */
const FAN_OUT = { watches: 200, writesPerSecond: 100, seconds: 60 };

/**
 * Runs in a page whose engine is ready.
 *
 * @param {import('./chromium.mjs').Browser} page
 * @returns {Promise<{http: {what: string, p50_ms: number, p99_ms: number, samples: number}[], linearBytes: number}>}
 */
export async function measureLoad(page) {
  return await page.evaluate(
    async ([count, longList]) => {
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
        if (!answer.ok)
          throw new Error(`${init?.method ?? 'GET'} ${url}: ${answer.status} ${text}`);
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
      const { linearBytes } = await window.kubetab.stats();

      const AT_ONCE = 8;
      for (let i = count + 250; i < longList; i += AT_ONCE) {
        const more = Array.from({ length: Math.min(AT_ONCE, longList - i) }, (_, k) => i + k);
        await Promise.all(more.map((n) => create(`long-${n}`)));
      }
      rows.push(row(`list of ${longList}`, await time(10, () => ask(path))));
      return { http: rows, linearBytes };
    },
    [CONFIG_MAPS, LONG_LIST],
  );
}

/**
 * Opens many watches of one collection and writes to it at a steady pace. What falls behind shows in the times: an event
 * that a watch sees late has waited behind others. A server that is asked for more than it can do has the writes wait, tells
 * it to their clients, and sends events as soon as ever.
 *
 * @param {import('./chromium.mjs').Browser} page whose engine is ready
 * @returns {Promise<{watches: number, writes_per_second: number, seconds: number, done_per_second: number,
 *   write_p50_ms: number, write_p99_ms: number, p50_ms: number, p99_ms: number, warned: number, refused: number,
 *   ended: number}>} how many writes a second were asked for and done; from the moment a write is sent until its answer; from
 *   its answer until a watch has read its event, 0 if that came first; how many answers warned that writes wait, and how many
 *   were 429, of which each was asked for again; and how many watches the API server ended because they fell behind
 */
export async function measureFanOut(page) {
  return await page.evaluate(async ({ watches, writesPerSecond, seconds }) => {
    const path = 'api/v1/namespaces/default/secrets';
    const total = writesPerSecond * seconds;
    const waits = [];
    const answered = [];
    const seen = [];
    const stop = new AbortController();
    const readers = [];
    let warned = 0;
    let refused = 0;
    let ended = 0;
    for (let i = 0; i < watches; i++) {
      const { body } = await fetch(`${path}?watch=1`, { signal: stop.signal });
      readers.push(read(body.pipeThrough(new TextDecoderStream()).getReader()));
    }
    const writes = [];
    const began = performance.now();
    for (let i = 0; i < total; i++) {
      const wait = began + (i * 1000) / writesPerSecond - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      writes.push(write(i));
    }
    await Promise.all(writes);
    const took = performance.now() - began;
    await Promise.all(readers);
    stop.abort();
    const late = seen.map(([i, at]) => Math.max(0, at - answered[i]));
    const percentile = (times, p) =>
      times.sort((a, b) => a - b)[Math.floor(((times.length - 1) * p) / 100)];
    return {
      watches,
      writes_per_second: writesPerSecond,
      seconds,
      done_per_second: (total * 1000) / took,
      write_p50_ms: percentile(waits, 50),
      write_p99_ms: percentile(waits, 99),
      p50_ms: percentile(late, 50),
      p99_ms: percentile(late, 99),
      warned,
      refused,
      ended,
    };

    async function write(i) {
      const sent = performance.now();
      let answer;
      for (;;) {
        answer = await fetch(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ metadata: { name: `fan-${i}` } }),
        });
        if (answer.status !== 429) break;
        refused++;
        await new Promise((resolve) =>
          setTimeout(resolve, 1000 * Number(answer.headers.get('retry-after'))),
        );
      }
      if (!answer.ok) throw new Error(`write ${i}: ${answer.status} ${await answer.text()}`);
      answered[i] = performance.now();
      waits.push(answered[i] - sent);
      if (answer.headers.has('warning')) warned++;
      await answer.body?.cancel();
    }
    /** Until the events of all writes have been seen. */
    async function read(reader) {
      let events = 0;
      let text = '';
      while (events < total) {
        const { done, value } = await reader.read();
        if (done) {
          ended++;
          return;
        }
        const lines = (text + value).split('\n');
        text = lines.pop();
        for (const line of lines) {
          const found = /"name":"fan-(\d+)"/.exec(line);
          if (!found) continue;
          events++;
          seen.push([Number(found[1]), performance.now()]);
        }
      }
    }
  }, FAN_OUT);
}
