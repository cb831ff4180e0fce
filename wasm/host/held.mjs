// Preloaded by a process that hosts an engine (node --import), for tests of turns: it tells how long the engine has held the
// process's only thread at once, when its parent asks. What is counted is the time that the thread has run, which hardly
// depends on what else the machine does. Linux tells it.

import { openSync, readSync } from 'node:fs';

const MOST = 100; // characters of the file
const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const text = Buffer.alloc(MOST);

/** @returns {number} for how long this thread has run, in ms */
const ran = () => Number(text.toString('latin1', 0, readSync(file, text, 0, MOST, 0)).split(' ')[0]) / 1e6;

let last = ran();
let longest = 0;
let all = 0;

/** Looks in each turn of the event loop, but for a pause in which a quiet engine need not be awake. */
function look() {
  const now = ran();
  longest = Math.max(longest, now - last);
  all += now - last;
  last = now;
  setTimeout(() => setImmediate(look), 1);
}
look();

// Each message is answered with what has been counted since the one before, in ms.
process.on('message', () => {
  process.send({ longest, all });
  longest = all = 0;
});
