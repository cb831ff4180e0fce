// Somebody at a terminal of an engine, for tests.

/** @typedef {object} Seat
 * @property {(text: string) => Promise<void>} types types, and forgets what the terminal has printed until now
 * @property {(pattern: RegExp) => Promise<string>} sees resolves to what the terminal has printed since, when that matches
 * @property {(line: string) => Promise<string>} runs types a line, and one behind it that prints the line's exit code as
 *   "code N". It resolves to what both have printed when the prompt is back
 */

/**
 * Opens a terminal.
 *
 * @param {object} engine that startEngine has returned
 * @returns {Promise<Seat>}
 */
export async function sit(engine) {
  const size = JSON.stringify({ columns: 200, rows: 50 });
  const made = await engine.fetch('/kubetab/terminals', { method: 'POST', headers: { 'content-type': 'application/json' }, body: size });
  const path = `/kubetab/terminals/${(await made.json()).id}`;
  const { body } = await engine.fetch(`${path}/output`);
  let screen = '';
  let changed = () => {};
  (async () => {
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      screen += text;
      changed();
    }
  })().catch(() => {}); // the engine has ended

  let lines = 0;
  const send = (text) => engine.fetch(`${path}/input`, { method: 'POST', body: text });
  const sees = (pattern) =>
    new Promise((resolve) => {
      changed = () => pattern.test(screen) && resolve(screen);
      changed();
    });
  return {
    sees,
    async types(text) {
      screen = '';
      await send(text);
    },
    async runs(line) {
      const mark = `end-${++lines}`;
      screen = '';
      await send(`${line}\n`);
      // On a line of its own, because a line that cannot be run is not gone on with.
      await send(`echo code $?; echo ${mark.replace('-', '-""')}\n`);
      return sees(new RegExp(`\\r?\\n${mark}\\r?\\n[^]*\\$ `));
    },
  };
}
