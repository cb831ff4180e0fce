import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, interrupt, shellAnswers, terminalOf } from './acts';
import { launch, openPage } from './browser';
import {
  type Asked,
  answersOf,
  beginProbe,
  ENDLESS,
  expectQuick,
  MEASURES,
  probeOf,
  summary,
  typeInto,
} from './probe';
import { openSite, type Site } from './site';

// A monkey at the page: lines that do not end, tabs that are closed in the middle, reloads, and objects that come and go. The API
// server answers all the while, and afterwards the cluster is what was acknowledged. The same seed plays the same.

const MINUTES = Number(process.env.KUBETAB_MINUTES || 10);
const SEED = Number(process.env.KUBETAB_SEED || Date.now() % 1_000_000);
const MOST_TABS = 4;
const COLLECTION = '/api/v1/namespaces/default/configmaps';

/** Numbers from 0 up to 1: mulberry32. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const number = numbers(SEED);
const below = (most: number) => Math.floor(number() * most);
const one = <T>(of: readonly T[]): T => of[below(of.length)] as T;

let browser: Browser;
let site: Site;
let context: BrowserContext;
/** It asks all the time, and is left alone. */
let watcher: Page;
let tabs: Page[] = [];
const there = new Set<string>();
const gone = new Set<string>();
let turn = 0;
/** The line of each tab that nobody has interrupted. */
const left = new Map<Page, string>();
/** What was done and when, by the watcher's clock, and the state it met, for whoever looks for the reason of a failure. */
const played: { at: number; what: string; heap: number; beside: readonly string[] }[] = [];

async function note(what: string): Promise<void> {
  const { at, heap } = await watcher.evaluate(async () => {
    const stats = await window.kubetab.stats();
    return { at: performance.now(), heap: stats?.heapBytes ?? 0 };
  });
  played.push({ at, what, heap, beside: [...left.values()] });
}

/** The answers that took longest, each with what was done last before it came. */
function slowest(asked: readonly Asked[], most = 8): string {
  return [...asked]
    .sort((a, b) => b.took - a.took)
    .slice(0, most)
    .map(({ at, took }) => {
      const before = played.filter((done) => done.at < at + took).slice(-4);
      const { heap = 0, beside = [] } = before.at(-1) ?? {};
      const did = before.map(({ what }) => what).join(' | ');
      return `${took.toFixed()} ms: ${did}\n    heap ${(heap / 2 ** 20).toFixed()} MiB, beside ${beside.join(' | ') || 'nothing'}`;
    })
    .join('\n');
}

beforeAll(async () => {
  console.log(`the monkey plays ${MINUTES} minutes; SEED=${SEED} plays the same`);
  [browser, site] = await Promise.all([launch(), openSite()]);
  context = await browser.newContext();
  watcher = await openPage(context, site.url);
  await beginProbe(watcher);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

async function open(): Promise<void> {
  if (tabs.length === MOST_TABS) return close();
  const page = await context.newPage();
  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto(site.url);
  await terminalOf(page);
  tabs.push(page);
}

async function close(): Promise<void> {
  const page = one(tabs);
  tabs = tabs.filter((other) => other !== page);
  left.delete(page);
  await page.close();
}

async function reload(): Promise<void> {
  const page = one(tabs);
  await page.reload();
  await terminalOf(page);
}

/** Types a line that does not end, and does something else, or waits for the probe, before Ctrl-C. */
async function typeLine(): Promise<void> {
  const page = one(tabs);
  const line = one(ENDLESS);
  await note(`tab ${tabs.indexOf(page)}: ${line}`);
  if (!left.has(page)) left.set(page, line); // what is typed into one that runs is its input
  await typeInto(page, `${line}\n`);
  const until = (await answersOf(watcher)) + 1 + below(20);
  await expect.poll(() => answersOf(watcher)).toBeGreaterThanOrEqual(until);
  if (below(4) === 0) return; // and leaves it running
  await interrupt(page);
  left.delete(page);
}

async function make(): Promise<void> {
  const name = `monkey-${++turn}`;
  if (
    (await ask(watcher, 'POST', COLLECTION, { metadata: { name }, data: { turn: `${turn}` } })) ===
    201
  ) {
    there.add(name);
  }
}

async function remove(): Promise<void> {
  const [name] = there;
  if (name === undefined) return;
  if ((await ask(watcher, 'DELETE', `${COLLECTION}/${name}`)) === 200) {
    there.delete(name);
    gone.add(name);
  }
}

const ACTIONS = [
  typeLine,
  typeLine,
  typeLine,
  typeLine,
  make,
  make,
  make,
  remove,
  open,
  close,
  reload,
];

test(
  `a monkey plays for ${MINUTES} minutes (SEED=${SEED})`,
  async () => {
    const end = Date.now() + MINUTES * 60_000;
    let actions = 0;
    while (Date.now() < end) {
      if (tabs.length === 0) await open();
      const action = one(ACTIONS);
      await note(action.name);
      try {
        await action();
      } catch (error) {
        console.error(
          played
            .slice(-40)
            .map(({ what }) => what)
            .join('\n'),
        );
        throw new Error(`action ${actions}, ${action.name}, with SEED=${SEED}`, { cause: error });
      }
      actions++;
      expect((await probeOf(watcher)).failures).toEqual([]);
    }
    for (const page of tabs) await shellAnswers(page);
    const names = await watcher.evaluate(async (path) => {
      const list = await (await fetch(path)).json();
      return (list.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
    }, COLLECTION);
    expect([...there].filter((name) => !names.includes(name))).toEqual([]);
    expect([...gone].filter((name) => names.includes(name))).toEqual([]);
    const { asked } = await probeOf(watcher);
    console.log(
      `${actions} actions, ${there.size} objects made and ${gone.size} deleted; ${summary(asked)}`,
    );
    console.log(slowest(asked));
    if (MEASURES) expectQuick(asked);
  },
  (MINUTES + 20) * 60_000,
);
