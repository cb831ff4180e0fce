import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'vitest';
import { CHROMIUM, FLAGS } from '../../build/chromium.mjs';
import { SPARING } from './sparing';

// Which browser a file of tests runs in, and what it is started with.

/**
 * Chromium without what is around a page: windows, a profile's settings, extensions. Pages are drawn and run by the same code;
 * a visit with a start of the engine takes a fifth less of a processor. Debian's package of the same version has it.
 */
const SHELL = '/usr/bin/chromium-headless-shell';

/** The files that run in the browser that visitors have: what the shell has not, and what visitors do first. */
const WHOLE: readonly string[] = [
  'client', // a profile whose settings let no third party store anything
  'closed', // a profile whose settings let nobody store anything
  'embed', // as client
  'install', // what can be installed is told by the browser around the page
  'kills', // what is in a profile on the disk
  'offline', // what is kept for visits without a network
  'snippets', // as client
  'update', // a new version of the page beside the old one
  'visit', // what a visitor does first
];

/** Code of the engine is compiled once, and not again where it runs often: a page that is closed soon has no use for it. */
export const FLAGS_OF_TESTS: readonly string[] = SPARING
  ? [...FLAGS, '--js-flags=--liftoff-only']
  : FLAGS;

/** The program for the file of tests that runs. With CHROMIUM, which names one, it is that for all of them. */
export function chosen(): string {
  const file = basename(expect.getState().testPath ?? '', '.test.ts');
  const isWhole = WHOLE.includes(file) || !SPARING || process.env.CHROMIUM || !existsSync(SHELL);
  return isWhole ? CHROMIUM : SHELL;
}
