import { defineConfig } from 'vitest/config';

/**
 * A project of tests that open the page in Chromium. Limits, here as below, are for what hangs, not for what is slow.
 *
 * @param sideBySide how many files run at once, each with a browser and engines of its own
 */
function browser(name: string, files: { include: string[]; exclude?: string[] }, sideBySide = 1) {
  return {
    test: {
      ...files,
      name,
      globalSetup: ['tests/browser/served.ts'],
      setupFiles: ['tests/browser/failure.ts'],
      environment: 'node' as const,
      maxWorkers: sideBySide,
      env: name === 'browser' && !process.env.KUBETAB_TIMING ? { KUBETAB_SPARING: '1' } : {},
      // A group for each number: groups run one after another, if somebody runs several projects at once.
      sequence: { groupOrder: sideBySide },
      testTimeout: 600_000,
      hookTimeout: 600_000,
      expect: { poll: { timeout: 240_000, interval: 100 } },
    },
  };
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['tests/unit/**/*.test.ts'],
          environment: 'node',
          testTimeout: 60_000,
          expect: { poll: { timeout: 60_000 } },
        },
      },
      // Two at a time: one file leaves a second processor idle. look.test.ts takes 192 s of a processor, in 230 s.
      browser(
        'browser',
        {
          include: ['tests/browser/**/*.test.ts'],
          exclude: ['tests/browser/**/*.timing.test.ts', 'tests/browser/**/*.long.test.ts'],
        },
        Number(process.env.KUBETAB_BROWSERS ?? 2),
      ),
      // Firefox and WebKit, and a site of VitePress: make test-browsers and test-vitepress.
      browser('browsers', { include: ['tests/browsers/**/*.test.ts'] }),
      // What measures how long something takes has the machine to itself: see `make test`.
      browser('timing', { include: ['tests/browser/**/*.timing.test.ts'] }),
      // What takes many minutes is asked for: see `make test-monkey` and `make test-full`.
      browser('long', { include: ['tests/browser/**/*.long.test.ts'] }),
    ],
  },
});
